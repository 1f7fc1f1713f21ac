/* SPDX-License-Identifier: MIT */
/* `kmem stat`: what the kernel's slab allocator gave, by place of the call and by allocation. */
#include "base/compare.h"
#include "base/list.h"
#include "base/memory.h"
#include "analyse/tracepoints.h"
#include "container/handle.h"
#include <perfdata/kmem.h>
#include <stdlib.h>

enum { KEYS = 8, SITE_WIDTH = 34, TABLE_WIDTH = 105, WAITING = 32 };

/* What is printed of a place that asked for allocations, or of an allocation's address. */
struct slab {
    uint64_t address, site; /* site: who asked last for an allocation at this address */
    uint64_t requested, given, hits, pingpongs;
    uint64_t offset;
    const char *symbol; /* NULL: not known */
};

struct slabs {
    PD_VEC(struct slab) all;
};

/* What is known of an address now. Two of these fit into a cache line. */
struct pointer {
    uint64_t address;
    uint64_t last; /* bytes of the last allocation */
    uint32_t site; /* who asked for it */
    uint32_t row;  /* index in `pointers`, where these are printed */
    int32_t cpu;   /* the CPU that allocated it; -1: it is free */
    bool used;     /* else the place is empty */
};

/* An allocation, or a free. */
struct change {
    uint64_t address, hash;
    uint64_t requested, given;
    uint32_t site;
    int32_t cpu;
    bool is_free;
};

struct kmem {
    const struct perfdata_kmem_options *options;
    struct pd_tp tp;
    struct slabs sites, pointers;
    struct pd_map64 site_at; /* by address */
    struct pointer *table;   /* by hash of the address; NULL: empty */
    size_t table_count, table_mask;
    /* A look-up in `table` mostly waits for memory. So the memory is asked for when the sample is
     * read, and the look-up is made some samples later. */
    struct change waiting[WAITING];
    size_t changes; /* all so far, applied or waiting */
    uint64_t requested, given, freed, allocations, cross;
    uint64_t from, to; /* of --time; 0: open */
};

static uint32_t site_of(struct kmem *kmem, uint64_t address)
{
    struct slabs *sites = &kmem->sites;
    struct slab fresh = { .address = address, .site = address };
    uint32_t at = pd_map64_get(&kmem->site_at, address);
    if (at != PD_MAP64_NONE)
        return at;
    at = (uint32_t)sites->all.count;
    return sites->all.count < PD_MAP64_NONE && pd_vec_push(&sites->all, fresh) &&
                   pd_map64_set(&kmem->site_at, address, at)
               ? at
               : PD_MAP64_NONE;
}

static void count(struct slab *slab, uint64_t requested, uint64_t given)
{
    slab->hits++;
    slab->requested += requested;
    slab->given += given;
}

/* ---- addresses that were given ---- */

static struct pointer *place_of(struct pointer *table, size_t mask, uint64_t address, uint64_t hash)
{
    for (size_t at = hash & mask;; at = (at + 1) & mask)
        if (!table[at].used || table[at].address == address)
            return &table[at];
}

static bool grow(struct kmem *kmem)
{
    size_t want = kmem->table ? (kmem->table_mask + 1) * 2 : 1024;
    struct pointer *table = pd_large_calloc(want, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; kmem->table && i <= kmem->table_mask; i++) {
        const struct pointer *old = &kmem->table[i];
        if (old->used)
            *place_of(table, want - 1, old->address, pd_hash64(old->address)) = *old;
    }
    free(kmem->table);
    kmem->table = table;
    kmem->table_mask = want - 1;
    return true;
}

static bool begin(struct kmem *kmem, struct pointer *pointer, const struct change *change)
{
    struct slab fresh = { .address = change->address };
    *pointer = (struct pointer){ .address = change->address, .cpu = -1 };
    if (kmem->options->flags & PERFDATA_KMEM_ALLOCATIONS) {
        pointer->row = (uint32_t)kmem->pointers.all.count;
        if (kmem->pointers.all.count >= UINT32_MAX || !pd_vec_push(&kmem->pointers.all, fresh))
            return false;
    }
    pointer->used = true;
    kmem->table_count++;
    return true;
}

static bool apply_allocation(struct kmem *kmem, const struct change *change)
{
    if ((!kmem->table || kmem->table_count * 2 > kmem->table_mask) && !grow(kmem))
        return false;
    struct pointer *pointer = place_of(kmem->table, kmem->table_mask, change->address,
                                       change->hash);
    if (!pointer->used && !begin(kmem, pointer, change))
        return false;
    pointer->site = change->site;
    pointer->cpu = change->cpu;
    pointer->last = change->given;
    if (kmem->options->flags & PERFDATA_KMEM_ALLOCATIONS) {
        struct slab *row = &kmem->pointers.all.data[pointer->row];
        count(row, change->requested, change->given);
        row->site = kmem->sites.all.data[change->site].address;
    }
    return true;
}

static void apply_free(struct kmem *kmem, const struct change *change)
{
    struct pointer *pointer = kmem->table ? place_of(kmem->table, kmem->table_mask, change->address,
                                                     change->hash)
                                          : NULL;
    if (!pointer || !pointer->used)
        return;
    kmem->freed += pointer->last;
    if ((int16_t)change->cpu != pointer->cpu) {
        kmem->sites.all.data[pointer->site].pingpongs++;
        if (kmem->options->flags & PERFDATA_KMEM_ALLOCATIONS)
            kmem->pointers.all.data[pointer->row].pingpongs++;
    }
    pointer->cpu = -1;
}

static perfdata_status apply(struct kmem *kmem, const struct change *change)
{
    if (change->is_free)
        apply_free(kmem, change);
    else if (!apply_allocation(kmem, change))
        return pd_tp_no_memory(&kmem->tp);
    return PERFDATA_OK;
}

/* Delays the change by some samples; changes keep their order. */
static perfdata_status apply_later(struct kmem *kmem, struct change change)
{
    struct change *place = &kmem->waiting[kmem->changes % WAITING];
    perfdata_status status = kmem->changes >= WAITING ? apply(kmem, place) : PERFDATA_OK;
    change.hash = pd_hash64(change.address);
    *place = change;
    kmem->changes++;
    if (kmem->table)
        __builtin_prefetch(&kmem->table[change.hash & kmem->table_mask], 1);
    return status;
}

static perfdata_status apply_rest(struct kmem *kmem)
{
    perfdata_status status = PERFDATA_OK;
    size_t left = PD_MIN(kmem->changes, (size_t)WAITING);
    for (size_t i = kmem->changes - left; status >= 0 && i < kmem->changes; i++)
        status = apply(kmem, &kmem->waiting[i % WAITING]);
    return status;
}

/* ---- samples ---- */

enum { CALL_SITE, PTR, BYTES_REQ, BYTES_ALLOC, NODE };

static bool outside(const struct kmem *kmem, uint64_t time)
{
    return (kmem->from && time < kmem->from) || (kmem->to && time > kmem->to);
}

static int32_t node_of(const struct kmem *kmem, uint32_t cpu)
{
    const struct pd_feature_numa_topology *numa = &kmem->tp.recording->features.numa_topology;
    for (uint32_t i = 0; numa->present && i < numa->nodes_count; i++) {
        const char *list = numa->nodes[i].cpus.text;
        for (char *end; *list; list = *end ? end + 1 : end) {
            unsigned long from = strtoul(list, &end, 10), to = from;
            if (*end == '-')
                to = strtoul(end + 1, &end, 10);
            if (cpu >= from && cpu <= to)
                return (int32_t)numa->nodes[i].node;
        }
    }
    return 0;
}

static void name_site(const struct pd_tp_sample *sample, struct slab *site)
{
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    const struct pd_location *place = thread ? pd_tp_resolve_at(sample, thread, PD_CPUMODE_KERNEL,
                                                                site->address)
                                             : NULL;
    if (!place || !place->sym)
        return;
    site->symbol = place->sym->name;
    site->offset = place->addr - place->sym->start;
}

static perfdata_status take_allocation(void *data, const struct pd_tp_sample *sample)
{
    struct kmem *kmem = data;
    uint64_t requested = pd_tp_number(sample, BYTES_REQ), given = pd_tp_number(sample, BYTES_ALLOC);
    if (outside(kmem, sample->sample.time))
        return PERFDATA_OK;
    uint32_t at = site_of(kmem, pd_tp_number(sample, CALL_SITE));
    if (at == PD_MAP64_NONE)
        return pd_tp_no_memory(&kmem->tp);
    struct slab *site = &kmem->sites.all.data[at];
    if (!site->hits)
        name_site(sample, site);
    count(site, requested, given);
    kmem->requested += requested;
    kmem->given += given;
    kmem->allocations++;
    if (sample->plan->fields[NODE]) {
        int32_t node = (int32_t)pd_tp_number(sample, NODE);
        kmem->cross += node != -1 && node != node_of(kmem, sample->sample.cpu);
    }
    return apply_later(kmem, (struct change){ .address = pd_tp_number(sample, PTR),
                                              .requested = requested,
                                              .given = given,
                                              .site = at,
                                              .cpu = (int32_t)sample->sample.cpu });
}

static perfdata_status take_free(void *data, const struct pd_tp_sample *sample)
{
    struct kmem *kmem = data;
    if (outside(kmem, sample->sample.time))
        return PERFDATA_OK;
    return apply_later(kmem, (struct change){ .address = pd_tp_number(sample, PTR),
                                              .cpu = (int32_t)sample->sample.cpu,
                                              .is_free = true });
}

/* "node" stands last because an event may lack it without being invalid. */
#define ALLOCATION(name)                                                                           \
    {                                                                                              \
        "kmem:" name, { "call_site", "ptr", "bytes_req", "bytes_alloc", "node" }, take_allocation  \
    }
#define FREE(name)                                                                                 \
    {                                                                                              \
        "kmem:" name, { "call_site", "ptr" }, take_free                                            \
    }
static const struct pd_tp_handler handlers[] = {
    ALLOCATION("kmalloc"),
    ALLOCATION("kmem_cache_alloc"),
    ALLOCATION("kmalloc_node"),
    ALLOCATION("kmem_cache_alloc_node"),
    FREE("kfree"),
    FREE("kmem_cache_free"),
    { 0 },
};

/* ---- sorting ---- */

static double wasted(uint64_t requested, uint64_t given)
{
    return given ? 100.0 - 100.0 * (double)requested / (double)given : 0;
}

static int by_pointer(const struct slab *a, const struct slab *b)
{
    return pd_compare_u64(a->address, b->address);
}
static int by_site(const struct slab *a, const struct slab *b)
{
    return pd_compare_u64(a->site, b->site);
}
static int by_hits(const struct slab *a, const struct slab *b)
{
    return pd_compare_u64(a->hits, b->hits);
}
static int by_bytes(const struct slab *a, const struct slab *b)
{
    return pd_compare_u64(a->given, b->given);
}
static int by_pingpongs(const struct slab *a, const struct slab *b)
{
    return pd_compare_u64(a->pingpongs, b->pingpongs);
}
static int by_waste(const struct slab *a, const struct slab *b)
{
    double x = wasted(a->requested, a->given), y = wasted(b->requested, b->given);
    return x < y ? -1 : x > y;
}

static const struct key {
    const char *name;
    int (*order)(const struct slab *, const struct slab *);
} known_keys[] = { { "ptr", by_pointer }, { "callsite", by_site },      { "hit", by_hits },
                   { "bytes", by_bytes }, { "pingpong", by_pingpongs }, { "frag", by_waste } };

struct sorted {
    const struct slab *slab;
    const struct key *const *keys; /* ends with NULL */
};

static int largest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    for (const struct key *const *key = x->keys; *key; key++) {
        int order = (*key)->order(y->slab, x->slab);
        if (order)
            return order;
    }
    return by_pointer(x->slab, y->slab);
}

static perfdata_status take_keys(struct pd_context *context, const char *text,
                                 const struct key *keys[KEYS + 1])
{
    size_t count = 0;
    for (struct pd_list_word word; pd_list_next(&text, ",", &word);) {
        size_t i = pd_list_find(&word, known_keys, sizeof *known_keys, PD_LENGTH(known_keys));
        if (i == PD_LENGTH(known_keys))
            return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Unknown slab --sort key: '%.*s'",
                           (int)word.length, word.text);
        if (count < KEYS)
            keys[count++] = &known_keys[i];
    }
    keys[count] = NULL;
    return PERFDATA_OK;
}

/* ---- tables ---- */

static void put_rule(struct pd_text *out)
{
    pd_text_fill(out, '-', TABLE_WIDTH);
    pd_text_char(out, '\n');
}

static void put_slab(const struct kmem *kmem, const struct slab *slab, bool is_site,
                     struct pd_text *out)
{
    size_t from;
    pd_text_char(out, ' ');
    from = out->length;
    if (is_site && slab->symbol && !(kmem->options->flags & PERFDATA_KMEM_RAW_IP))
        pd_text_format(out, "%s+%llx", slab->symbol, (unsigned long long)slab->offset);
    else
        pd_text_format(out, "%#llx", (unsigned long long)slab->address);
    pd_text_pad(out, from, SITE_WIDTH);
    pd_text_format(out, " | %9llu/%-5llu | %9llu/%-5llu | %8llu | %9llu | %6.3f%%\n",
                   (unsigned long long)slab->given, (unsigned long long)(slab->given / slab->hits),
                   (unsigned long long)slab->requested,
                   (unsigned long long)(slab->requested / slab->hits),
                   (unsigned long long)slab->hits, (unsigned long long)slab->pingpongs,
                   wasted(slab->requested, slab->given));
}

/* `most` < 0: all rows are printed. */
static perfdata_status put_table(struct kmem *kmem, const struct slabs *slabs, bool is_site,
                                 const char *keys, int most)
{
    struct pd_text *out = &kmem->tp.out;
    const struct key *order[KEYS + 1];
    perfdata_status status = take_keys(&kmem->tp.recording->context, keys ? keys : "frag,hit,bytes",
                                       order);
    struct sorted *rows = status < 0 ? NULL : calloc(slabs->all.count + 1, sizeof *rows);
    if (!rows)
        return status < 0 ? status : pd_tp_no_memory(&kmem->tp);
    for (size_t i = 0; i < slabs->all.count; i++)
        rows[i] = (struct sorted){ &slabs->all.data[i], order };
    qsort(rows, slabs->all.count, sizeof *rows, largest_first);
    put_rule(out);
    pd_text_format(out,
                   " %-34s | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n",
                   is_site ? "Callsite" : "Alloc Ptr");
    put_rule(out);
    size_t shown = most >= 0 && (size_t)most < slabs->all.count ? (size_t)most : slabs->all.count;
    for (size_t i = 0; i < shown; i++)
        put_slab(kmem, rows[i].slab, is_site, out);
    if (shown < slabs->all.count || (most < 0 && !shown)) /* as perf */
        pd_text_string(out,
                       " ...                                | ...             | ...             "
                       "| ...      | ...       | ...   \n");
    put_rule(out);
    free(rows);
    return PERFDATA_OK;
}

static void put_summary(struct kmem *kmem)
{
    struct pd_text *out = &kmem->tp.out;
    pd_text_string(out, "\nSUMMARY (SLAB allocator)\n========================\n");
    pd_text_format(out, "Total bytes requested: %llu\nTotal bytes allocated: %llu\n",
                   (unsigned long long)kmem->requested, (unsigned long long)kmem->given);
    pd_text_format(out, "Total bytes freed:     %llu\n", (unsigned long long)kmem->freed);
    if (kmem->given > kmem->freed)
        pd_text_format(out, "Net total bytes allocated: %llu\n",
                       (unsigned long long)(kmem->given - kmem->freed));
    pd_text_format(out,
                   "Total bytes wasted on internal fragmentation: %llu\n"
                   "Internal fragmentation: %f%%\nCross CPU allocations: %llu/%llu\n",
                   (unsigned long long)(kmem->given - kmem->requested),
                   wasted(kmem->requested, kmem->given), (unsigned long long)kmem->cross,
                   (unsigned long long)kmem->allocations);
}

static perfdata_status print(struct kmem *kmem)
{
    const struct perfdata_kmem_options *options = kmem->options;
    perfdata_status status = PERFDATA_OK;
    if (options->flags & PERFDATA_KMEM_CALLERS)
        status = put_table(kmem, &kmem->sites, true, options->caller_sort, options->caller_lines);
    if (status >= 0 && options->flags & PERFDATA_KMEM_ALLOCATIONS)
        status = put_table(kmem, &kmem->pointers, false, options->allocation_sort,
                           options->allocation_lines);
    if (status >= 0)
        put_summary(kmem);
    return status;
}

static perfdata_status run(struct kmem *kmem, struct pd_recording *recording,
                           perfdata_write_fn write, void *data)
{
    const struct pd_tp_verb verb = { .handlers = handlers,
                                     .data = kmem,
                                     .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(MMAP) |
                                              PD_TP_HEARS(MMAP2) | PD_TP_HEARS(NAMESPACES) };
    perfdata_status status = pd_tp_open(&kmem->tp, recording, &kmem->options->search, &verb, write,
                                        data);
    if (status >= 0)
        status = pd_tp_run(&kmem->tp);
    if (status >= 0)
        status = apply_rest(kmem);
    if (status >= 0)
        status = print(kmem);
    status = pd_tp_close(&kmem->tp, status);
    pd_vec_free(&kmem->sites.all);
    pd_vec_free(&kmem->pointers.all);
    pd_map64_free(&kmem->site_at);
    free(kmem->table);
    return status;
}

perfdata_status perfdata_kmem_run(perfdata_recording *recording,
                                  const struct perfdata_kmem_options *options,
                                  perfdata_write_fn write, void *data)
{
    struct perfdata_kmem_options known = { 0 };
    const struct key *keys[KEYS + 1];
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_context *context = &recording->recording.context;
    struct kmem kmem = { .options = &known };
    if (known.caller_sort)
        status = take_keys(context, known.caller_sort, keys);
    if (status >= 0 && known.allocation_sort)
        status = take_keys(context, known.allocation_sort, keys);
    if (status >= 0 && !pd_tp_has_event(&recording->recording, "kmem:kmalloc"))
        status = pd_fail(
            context, PERFDATA_ERROR_NO_DATA, -1,
            "No slab allocation events found.  Have you run 'perf kmem record --slab'?");
    if (status >= 0 && known.time && !pd_tp_span(known.time, &kmem.from, &kmem.to))
        status = pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid time string");
    return status < 0 ? status : run(&kmem, &recording->recording, write, data);
}
