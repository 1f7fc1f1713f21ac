/* SPDX-License-Identifier: MIT */
/* Lists of commands, processes, CPUs, objects, symbols and times -> whether a sample is shown. */
#include "select/filter.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void pd_filter_free(struct pd_filter *filter)
{
    pd_arena_free(&filter->arena);
    memset(filter, 0, sizeof *filter);
}

/* ---- lists ---- */

typedef PD_VEC(struct pd_string_ref) name_vec;

static int compare_names(const void *left, const void *right)
{
    const struct pd_string_ref *a = left, *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->text, b->text, a->length);
}

static bool push_name(struct pd_arena *arena, name_vec *names, const char *text, size_t length)
{
    char *copy = pd_arena_copy(arena, text, length);
    return copy && pd_vec_push(names, (struct pd_string_ref){ copy, length });
}

/* The lines of a file, each a name. */
static perfdata_status push_file(struct pd_arena *arena, name_vec *names, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return PERFDATA_ERROR_ARGUMENT;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    perfdata_status status = PERFDATA_OK;
    while (!status && (length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n')
            length--;
        if (length && !push_name(arena, names, line, (size_t)length))
            status = PERFDATA_ERROR_MEMORY;
    }
    if (!status && !feof(file)) /* half of a list must not pass for the whole */
        status = errno == ENOMEM ? PERFDATA_ERROR_MEMORY : PERFDATA_ERROR_ARGUMENT;
    free(line);
    fclose(file);
    return status;
}

/* Splits "a,b,file://c" into names; what is no file keeps its blanks. */
static perfdata_status split_list(struct pd_arena *arena, name_vec *names, const char *list)
{
    static const char scheme[] = "file://";
    while (*list) {
        size_t length = strcspn(list, ",");
        perfdata_status status = PERFDATA_OK;
        if (!strncmp(list, scheme, sizeof scheme - 1) && length >= sizeof scheme - 1) {
            char *path = pd_arena_copy(arena, list + sizeof scheme - 1,
                                       length - (sizeof scheme - 1));
            status = path ? push_file(arena, names, path) : PERFDATA_ERROR_MEMORY;
        } else if (!push_name(arena, names, list, length)) {
            status = PERFDATA_ERROR_MEMORY;
        }
        if (status)
            return status;
        list += length + (list[length] == ',');
    }
    return PERFDATA_OK;
}

/* Joins the names to the set, in the arena; frees `names`. */
static perfdata_status finish_set(struct pd_arena *arena, name_vec *names, struct pd_name_set *set)
{
    perfdata_status status = PERFDATA_OK;
    size_t count = set->count + names->count;
    struct pd_string_ref *all = pd_arena_alloc(arena, (count + 1) * sizeof *all);
    if (all) {
        if (set->count)
            memcpy(all, set->names, set->count * sizeof *all);
        if (names->count)
            memcpy(all + set->count, names->data, names->count * sizeof *all);
        qsort(all, count, sizeof *all, compare_names);
        *set = (struct pd_name_set){ all, count };
    } else {
        status = PERFDATA_ERROR_MEMORY;
    }
    pd_vec_free(names);
    return status;
}

static perfdata_status add_names(struct pd_filter *filter, struct pd_context *context,
                                 struct pd_name_set *set, const char *list, const char *what)
{
    name_vec names = { 0 };
    perfdata_status status = split_list(&filter->arena, &names, list);
    if (!status)
        return finish_set(&filter->arena, &names, set);
    pd_vec_free(&names);
    return pd_fail(context, status, -1, "problems parsing %s list", what);
}

bool pd_name_set_has(const struct pd_name_set *set, const char *text, size_t length)
{
    size_t low = 0, high = set->count;
    struct pd_string_ref key = { text, length };
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(&key, &set->names[middle]);
        if (!order)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

perfdata_status pd_filter_add_comms(struct pd_filter *filter, struct pd_context *context,
                                    const char *list)
{
    filter->has_comms = true;
    return add_names(filter, context, &filter->comms, list, "comm");
}

perfdata_status pd_filter_add_dsos(struct pd_filter *filter, struct pd_context *context,
                                   const char *list)
{
    filter->has_dsos = true;
    return add_names(filter, context, &filter->dsos, list, "dso");
}

/* A hexadecimal number, blanks allowed behind it: perf takes it for an address even when it could
 * be a name. */
static bool parse_address(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 16);
    if (errno || end == text)
        return false;
    return !end[strspn(end, " \t\n\v\f\r")];
}

perfdata_status pd_filter_add_symbols(struct pd_filter *filter, struct pd_context *context,
                                      const char *list, uint64_t range)
{
    name_vec names = { 0 };
    filter->has_symbols = true;
    filter->address_range = range;
    perfdata_status status = split_list(&filter->arena, &names, list);
    if (status) {
        pd_vec_free(&names);
        return pd_fail(context, status, -1, "problems parsing symbol list");
    }
    uint64_t *addresses = pd_arena_alloc(&filter->arena, (names.count + filter->address_count + 1) *
                                                             sizeof *addresses);
    if (!addresses) {
        pd_vec_free(&names);
        return pd_no_memory(context, "the symbol list");
    }
    if (filter->address_count)
        memcpy(addresses, filter->addresses, filter->address_count * sizeof *addresses);
    size_t kept = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (parse_address(names.data[i].text, &addresses[filter->address_count]))
            filter->address_count++;
        else
            names.data[kept++] = names.data[i];
    }
    names.count = kept;
    filter->addresses = addresses;
    return finish_set(&filter->arena, &names, &filter->symbols);
}

static perfdata_status add_numbers(struct pd_filter *filter, struct pd_context *context,
                                   uint32_t **numbers, size_t *count, const char *list,
                                   const char *what)
{
    name_vec names = { 0 };
    perfdata_status status = split_list(&filter->arena, &names, list);
    uint32_t *all = NULL;
    if (!status) {
        all = pd_arena_alloc(&filter->arena, (names.count + *count + 1) * sizeof *all);
        if (!all)
            status = PERFDATA_ERROR_MEMORY;
        else if (*count)
            memcpy(all, *numbers, *count * sizeof *all);
    }
    for (size_t i = 0; !status && i < names.count; i++) {
        char *end;
        if (!names.data[i].length) /* ",5" */
            continue;
        errno = 0;
        long value = strtol(names.data[i].text, &end, 10);
        if (errno || *end || end == names.data[i].text)
            status = PERFDATA_ERROR_ARGUMENT;
        else
            all[(*count)++] = (uint32_t)value;
    }
    pd_vec_free(&names);
    if (status)
        return pd_fail(context, status, -1, "problems parsing %s list", what);
    *numbers = all;
    return PERFDATA_OK;
}

perfdata_status pd_filter_add_pids(struct pd_filter *filter, struct pd_context *context,
                                   const char *list)
{
    filter->has_pids = true;
    return add_numbers(filter, context, &filter->pids, &filter->pid_count, list, "pid");
}

perfdata_status pd_filter_add_tids(struct pd_filter *filter, struct pd_context *context,
                                   const char *list)
{
    filter->has_tids = true;
    return add_numbers(filter, context, &filter->tids, &filter->tid_count, list, "tid");
}

/* ---- CPUs ---- */

static const char *parse_cpu(const char *text, unsigned long *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *out = strtoul(text, &end, 10);
    return errno || *out >= INT32_MAX ? NULL : end;
}

/* "0-3,7" */
static void put_cpus(const uint64_t cpus[PD_FILTER_CPUS / 64], struct pd_text *out)
{
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < PD_FILTER_CPUS; cpu = last + 1) {
        last = cpu;
        if (!(cpus[cpu / 64] >> cpu % 64 & 1))
            continue;
        while (last + 1 < PD_FILTER_CPUS && cpus[(last + 1) / 64] >> (last + 1) % 64 & 1)
            last++;
        pd_text_format(out, last > cpu ? "%s%u-%u" : "%s%u", out->length ? "," : "", cpu, last);
    }
}

perfdata_status pd_filter_no_cpu(struct pd_context *context, const char *asked, const char *what,
                                 const uint64_t there[PD_FILTER_CPUS / 64])
{
    struct pd_text text = { 0 };
    put_cpus(there, &text);
    pd_text_char(&text, '\0');
    perfdata_status status = text.failed ? pd_no_memory(context, NULL)
                                         : pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                                                   "-C %.100s: no such CPU: there are %s %s", asked,
                                                   what, *text.data ? text.data : "none");
    pd_text_free(&text);
    return status;
}

/* A CPU that the machine had not, by the header. perf takes a header without their number for a
 * machine without any. */
static perfdata_status check_cpu(struct pd_recording *recording, const char *asked,
                                 unsigned long first, unsigned long last)
{
    const struct pd_feature_nrcpus *counts = &recording->features.nrcpus;
    uint64_t there[PD_FILTER_CPUS / 64] = { 0 };
    unsigned long count = counts->present || recording->like_perf ? counts->available
                                                                  : PD_FILTER_CPUS;
    count = PD_MIN(count, (unsigned long)PD_FILTER_CPUS);
    if (last < count)
        return PERFDATA_OK;
    if (recording->like_perf || !counts->present)
        return pd_fail(&recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "%sRequested CPU %lu too large. Consider raising MAX_NR_CPUS",
                       recording->like_perf && last >= PD_FILTER_CPUS
                           ? "Perf can support 2048 CPUs. Consider raising MAX_NR_CPUS\n"
                           : "",
                       PD_MAX(first, count));
    for (unsigned long cpu = 0; cpu < count; cpu++)
        there[cpu / 64] |= UINT64_C(1) << cpu % 64;
    return pd_filter_no_cpu(&recording->context, asked, "CPUs", there);
}

perfdata_status pd_filter_add_socket(struct pd_filter *filter, const struct pd_recording *recording,
                                     struct pd_context *context, const char *number)
{
    char *end;
    unsigned long socket = strtoul(number, &end, 0);
    if (*number < '0' || *number > '9' || *end || socket > INT32_MAX)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "'%s' is no processor socket", number);
    filter->has_socket = true;
    filter->socket = (uint32_t)socket;
    filter->topology = pd_recording_has_feature(recording, PD_FEATURE_CPU_TOPOLOGY)
                           ? &recording->features.cpu_topology
                           : NULL;
    return PERFDATA_OK;
}

bool pd_filter_socket(const struct pd_filter *filter, uint32_t cpu)
{
    const struct pd_feature_cpu_topology *topology = filter->topology;
    return !filter->has_socket || (topology && cpu < topology->cpus_count &&
                                   topology->cpus[cpu].socket_id == filter->socket);
}

perfdata_status pd_filter_add_cpus(struct pd_filter *filter, struct pd_recording *recording,
                                   const char *list)
{
    struct pd_context *context = &recording->context;
    const char *asked = list;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        if (!(attr->sample_type & PD_SAMPLE_CPU))
            return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                           "File does not contain CPU events. Remove -C option to proceed.");
    }
    filter->has_cpus = true;
    while (*list) {
        unsigned long first, last;
        if (!(list = parse_cpu(list, &first)))
            break;
        last = first;
        /* "5-" is 5 */
        if (*list == '-' && *++list && *list != ',' && !(list = parse_cpu(list, &last)))
            break;
        if ((*list && *list != ',') || last < first) {
            list = NULL;
            break;
        }
        list += *list == ',';
        perfdata_status status = check_cpu(recording, asked, first, last);
        if (status < 0)
            return status;
        for (; first <= last; first++)
            filter->cpus[first / 64] |= UINT64_C(1) << first % 64;
    }
    if (!list)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid cpu_list");
    return PERFDATA_OK;
}

/* ---- matching ---- */

static bool has_number(const uint32_t *numbers, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == value)
            return true;
    return false;
}

static bool cpu_wanted(void *data, uint32_t cpu)
{
    return pd_filter_cpu(data, cpu);
}

void pd_filter_trace(struct pd_filter *filter, struct pd_synth_config *config)
{
    config->aux.cpu_wanted = filter->has_cpus ? cpu_wanted : NULL;
    config->aux.data = filter;
    config->ranges = filter->spans;
    config->range_count = filter->span_count;
}

bool pd_filter_thread(const struct pd_filter *filter, const struct pd_thread *thread,
                      uint64_t number)
{
    if (!thread)
        return !pd_filter_has_thread(filter);
    if (filter->has_tids && !has_number(filter->tids, filter->tid_count, thread->tid))
        return false;
    if (filter->has_pids &&
        !has_number(filter->pids, filter->pid_count, pd_thread_pid(thread, number)))
        return false;
    if (!filter->has_comms)
        return true;
    const struct pd_comm *comm = pd_thread_comm(thread, number);
    const char *text = comm ? pd_comm_text(comm, number) : "";
    return pd_name_set_has(&filter->comms, text, strlen(text));
}

perfdata_status pd_filter_add_lists(struct pd_filter *filter, struct pd_context *context,
                                    const struct pd_filter_lists *lists, struct pd_name_set *stop)
{
    perfdata_status status = PERFDATA_OK;
    if (lists->dsos)
        status = pd_filter_add_dsos(filter, context, lists->dsos);
    if (!status && lists->comms)
        status = pd_filter_add_comms(filter, context, lists->comms);
    if (!status && lists->pids)
        status = pd_filter_add_pids(filter, context, lists->pids);
    if (!status && lists->tids)
        status = pd_filter_add_tids(filter, context, lists->tids);
    if (!status && lists->symbols)
        status = pd_filter_add_symbols(filter, context, lists->symbols, lists->address_range);
    if (!status && lists->stop_symbols) {
        /* Names without addresses: the list of comms has that form. */
        struct pd_filter names = { .arena = filter->arena };
        status = pd_filter_add_comms(&names, context, lists->stop_symbols);
        filter->arena = names.arena;
        *stop = names.comms;
    }
    return status;
}

perfdata_status pd_filter_add_numbers(struct pd_filter *filter, struct pd_recording *recording,
                                      const char *pids, const char *tids, const char *cpus)
{
    perfdata_status status = PERFDATA_OK;
    if (pids)
        status = pd_filter_add_pids(filter, &recording->context, pids);
    if (status >= 0 && tids)
        status = pd_filter_add_tids(filter, &recording->context, tids);
    return status >= 0 && cpus ? pd_filter_add_cpus(filter, recording, cpus) : status;
}

bool pd_filter_numbers(const struct pd_filter *filter, uint32_t pid, uint32_t tid, uint32_t cpu)
{
    return (!filter->has_pids || has_number(filter->pids, filter->pid_count, pid)) &&
           (!filter->has_tids || has_number(filter->tids, filter->tid_count, tid)) &&
           pd_filter_cpu(filter, cpu);
}

bool pd_filter_dso(const struct pd_filter *filter, struct pd_symbols *symbols,
                   const struct pd_location *location)
{
    const struct pd_dso *dso = location->map ? location->dso : NULL;
    if (!filter->has_dsos)
        return true;
    if (!dso)
        return false;
    const char *name = pd_symbols_short_name(symbols, dso);
    if (pd_name_set_has(&filter->dsos, name, strlen(name)))
        return true;
    name = pd_symbols_long_name(symbols, dso);
    return pd_name_set_has(&filter->dsos, name, strlen(name));
}

bool pd_filter_symbol(const struct pd_filter *filter, const struct pd_location *location)
{
    if (!filter->has_symbols)
        return true;
    const struct pd_symbol *symbol = location->sym;
    if (symbol && pd_name_set_has(&filter->symbols, symbol->name, symbol->name_length))
        return true;
    if (!location->map)
        return false;
    for (size_t i = 0; i < filter->address_count; i++) {
        uint64_t from = filter->addresses[i];
        if (location->ip == from ||
            (location->ip > from && location->ip - from < filter->address_range))
            return true;
    }
    return false;
}
