/* SPDX-License-Identifier: MIT */
/* What only samples made from a trace show: flags, the values of synthesised events, IPC, indented
 * calls. */
#include "base/digits.h"
#include "render/script/plan.h"
#include <stdio.h>

/* ---- flags ---- */

#define LETTERS "bcrosyiABExghDt"
#define ASIDE (PD_IP_IN_TX | PD_IP_INTR_DISABLE | PD_IP_INTR_TOGGLE)

static const struct {
    uint32_t flags;
    const char *name;
} flag_names[] = {
    { PD_IP_BRANCH | PD_IP_CALL, "call" },
    { PD_IP_BRANCH | PD_IP_RETURN, "return" },
    { PD_IP_BRANCH | PD_IP_CONDITIONAL, "jcc" },
    { PD_IP_BRANCH, "jmp" },
    { PD_IP_BRANCH | PD_IP_CALL | PD_IP_INTERRUPT, "int" },
    { PD_IP_BRANCH | PD_IP_RETURN | PD_IP_INTERRUPT, "iret" },
    { PD_IP_BRANCH | PD_IP_CALL | PD_IP_SYSCALLRET, "syscall" },
    { PD_IP_BRANCH | PD_IP_RETURN | PD_IP_SYSCALLRET, "sysret" },
    { PD_IP_BRANCH | PD_IP_ASYNC, "async" },
    { PD_IP_BRANCH | PD_IP_CALL | PD_IP_ASYNC | PD_IP_INTERRUPT, "hw int" },
    { PD_IP_BRANCH | PD_IP_TX_ABORT, "tx abrt" },
    { PD_IP_BRANCH | PD_IP_TRACE_BEGIN, "tr strt" },
    { PD_IP_BRANCH | PD_IP_TRACE_END, "tr end" },
    { PD_IP_BRANCH | PD_IP_CALL | PD_IP_VMENTRY, "vmentry" },
    { PD_IP_BRANCH | PD_IP_CALL | PD_IP_VMEXIT, "vmexit" },
};

static const char *flag_name(uint32_t flags)
{
    for (size_t i = 0; i < PD_LENGTH(flag_names); i++)
        if (flag_names[i].flags == flags)
            return flag_names[i].name;
    return NULL;
}

void pd_trace_flags_text(uint32_t flags, struct pd_text *text)
{
    char aside[8] = "";
    uint32_t plain = flags & ~(uint32_t)ASIDE;
    const char *name = flag_name(plain), *prefix = "";
    if (flags & ASIDE)
        snprintf(aside, sizeof aside, "(%s%s%s)", flags & PD_IP_IN_TX ? "x" : "",
                 flags & PD_IP_INTR_DISABLE ? "D" : "", flags & PD_IP_INTR_TOGGLE ? "t" : "");
    if (!name && plain & PD_IP_TRACE_BEGIN) {
        name = flag_name(plain & ~(uint32_t)PD_IP_TRACE_BEGIN);
        prefix = "tr strt ";
    }
    if (!name && plain & PD_IP_TRACE_END) {
        name = flag_name(plain & ~(uint32_t)PD_IP_TRACE_END);
        prefix = "tr end  ";
    }
    if (name) {
        pd_text_string(text, prefix);
        pd_text_left(text, name, strlen(name), *prefix ? 7 : 15);
        pd_text_right(text, aside, strlen(aside), 6);
        return;
    }
    for (unsigned i = 0; i < sizeof LETTERS - 1; i++)
        if (flags >> i & 1)
            pd_text_char(text, LETTERS[i]);
}

static void make_flags(uint32_t flags, struct pd_flag_text *slot)
{
    struct pd_text name = { 0 };
    pd_trace_flags_text(flags, &name);
    size_t length = PD_MIN(name.length, sizeof slot->text - 3);
    memset(slot->text, ' ', sizeof slot->text);
    if (length)
        memcpy(slot->text + 2, name.data, length);
    slot->length = (uint32_t)(3 + PD_MAX(length, (size_t)21));
    slot->flags = flags;
    pd_text_free(&name);
}

const struct pd_flag_text *pd_script_flag_text(struct pd_script_worker *worker, uint32_t flags)
{
    struct pd_flag_text *slot =
        &worker->texts.flags[(flags ^ flags >> 5) % PD_LENGTH(worker->texts.flags)];
    if (PD_UNLIKELY(slot->flags != flags || !slot->length))
        make_flags(flags, slot);
    return slot;
}

void pd_script_flags(struct pd_script_worker *worker, const struct pd_delivered *record,
                     struct pd_text *text)
{
    const struct pd_flag_text *slot = pd_script_flag_text(worker,
                                                          record->facts ? record->facts->flags : 0);
    char *to = pd_text_room(text, sizeof slot->text);
    if (!to)
        return;
    memcpy(to, slot->text, sizeof slot->text);
    text->length += slot->length;
}

/* ---- the values of synthesised events ---- */

enum { SYNTH_WIDTH = 34 };

/* The payload as text, when it is one. */
void pd_script_letters(uint64_t payload, struct pd_text *text)
{
    char letters[9] = "";
    size_t count = 0;
    for (; count < 8 && payload >> 8 * count & 0xff; count++) {
        uint8_t c = (uint8_t)(payload >> 8 * count);
        if (c < ' ' || c >= 0x7f)
            return;
        letters[count] = (char)c;
    }
    if (count < 8 && payload >> 8 * count)
        return;
    pd_text_bytes(text, letters, count);
}

static void put_ptwrite(const struct pd_sample *sample, struct pd_text *text)
{
    pd_text_format(text, " IP: %u payload: ", pd_script_word(sample, 0) & 1);
    pd_text_hex_prefixed(text, pd_script_wide(sample, 4));
    pd_text_char(text, ' ');
    pd_script_letters(pd_script_wide(sample, 4), text);
    pd_text_char(text, ' ');
}

static void put_mwait(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t value = pd_script_wide(sample, 4);
    pd_text_string(text, " hints: ");
    pd_text_hex_prefixed(text, value & 0xff);
    pd_text_string(text, " extensions: ");
    pd_text_hex_prefixed(text, value >> 32 & 3);
    pd_text_char(text, ' ');
}

static void put_pwre(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t value = pd_script_wide(sample, 4);
    pd_text_format(text, " hw: %u cstate: %u sub-cstate: %u ", (unsigned)(value >> 7 & 1),
                   (unsigned)(value >> 12 & 15), (unsigned)(value >> 8 & 15));
}

static void put_exstop(const struct pd_sample *sample, struct pd_text *text)
{
    pd_text_format(text, " IP: %u ", pd_script_word(sample, 0) & 1);
}

static void put_pwrx(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t value = pd_script_wide(sample, 4);
    pd_text_format(text,
                   " deepest cstate: %u last cstate: %u wake reason: ", (unsigned)(value & 15),
                   (unsigned)(value >> 4 & 15));
    pd_text_hex_prefixed(text, value >> 8 & 15);
    pd_text_char(text, ' ');
}

static void put_cbr(const struct pd_sample *sample, struct pd_text *text)
{
    uint32_t value = pd_script_word(sample, 0), cbr = value & 0xff, most = value >> 16 & 0xff;
    pd_text_format(text, " cbr: %2u freq: %4u MHz ", cbr, (pd_script_word(sample, 4) + 500) / 1000);
    if (most)
        pd_text_format(text, "(%3u%%) ", (5 + 1000 * cbr / most) / 10);
}

static void put_psb(const struct pd_sample *sample, struct pd_text *text)
{
    pd_text_string(text, " psb offs: ");
    pd_text_hex_prefixed(text, pd_script_wide(sample, 4));
}

static void put_event_data(const struct pd_sample *sample, size_t at, struct pd_text *text)
{
    static const char *const names[] = { "PFA", "VMXQ", "VMXR" };
    uint64_t type = pd_script_wide(sample, at);
    pd_text_char(text, ' ');
    if (type < PD_LENGTH(names))
        pd_text_string(text, names[type]);
    else
        pd_text_format(text, "EVD_%u", (unsigned)type);
    pd_text_string(text, ": ");
    pd_text_hex_prefixed(text, pd_script_wide(sample, at + 8));
}

static void put_event(const struct pd_sample *sample, struct pd_text *text)
{
    static const char *const names[] = { NULL,     "INTR",        "IRET",    "SMI",
                                         "RSM",    "SIPI",        "INIT",    "VMENTRY",
                                         "VMEXIT", "VMEXIT_INTR", "SHUTDOWN" };
    uint32_t value = pd_script_word(sample, 0), type = value & 31;
    pd_text_string(text, " cfe: ");
    if (type < PD_LENGTH(names) && names[type])
        pd_text_string(text, names[type]);
    else
        pd_text_u64(text, type, 0, ' ');
    pd_text_format(text, " IP: %u vector: %u", value >> 7 & 1, value >> 8 & 0xff);
    for (uint32_t i = 0; i < value >> 16 && 4 + 16 * ((size_t)i + 1) <= sample->raw_size; i++)
        put_event_data(sample, 4 + 16 * (size_t)i, text);
}

static void put_iflag(const struct pd_sample *sample, struct pd_text *text)
{
    uint32_t value = pd_script_word(sample, 0), now = value & 1;
    pd_text_format(text, " IFLAG: %u->%u %s branch", !now, now, value & 2 ? "via" : "non");
}

static const struct {
    void (*put)(const struct pd_sample *sample, struct pd_text *text);
    uint32_t size; /* of its payload at least */
} values[] = {
    [PD_SYNTH_CONFIG_PTWRITE] = { put_ptwrite, 12 }, [PD_SYNTH_CONFIG_MWAIT] = { put_mwait, 12 },
    [PD_SYNTH_CONFIG_PWRE] = { put_pwre, 12 },       [PD_SYNTH_CONFIG_EXSTOP] = { put_exstop, 4 },
    [PD_SYNTH_CONFIG_PWRX] = { put_pwrx, 12 },       [PD_SYNTH_CONFIG_CBR] = { put_cbr, 12 },
    [PD_SYNTH_CONFIG_PSB] = { put_psb, 12 },         [PD_SYNTH_CONFIG_EVT] = { put_event, 4 },
    [PD_SYNTH_CONFIG_IFLAG] = { put_iflag, 12 },
};

bool pd_script_has_values(const struct pd_sample *sample)
{
    const struct pd_attr *attr = &sample->event->attr;
    return attr->type == (uint32_t)PD_TYPE_SYNTH && attr->config < PD_LENGTH(values) &&
           sample->raw && sample->raw_size >= values[attr->config].size;
}

void pd_script_values(const struct pd_sample *sample, struct pd_text *text)
{
    values[sample->event->attr.config].put(sample, text);
}

void pd_script_synth(const struct pd_sample *sample, struct pd_text *text)
{
    size_t before = text->length;
    if (!pd_script_has_values(sample))
        return;
    pd_script_values(sample, text);
    pd_text_pad(text, before, SYNTH_WIDTH);
}

/* ---- instructions per cycle ---- */

void pd_script_ipc(const struct pd_delivered *record, struct pd_text *text)
{
    const struct pd_synth_facts *facts = record->facts;
    if (!facts || !facts->cycle_count || !facts->insn_count)
        return;
    unsigned ipc = (unsigned)(facts->insn_count * 100 / facts->cycle_count);
    pd_text_string(text, " \t IPC: ");
    pd_text_u64(text, ipc / 100, 0, ' ');
    pd_text_char(text, '.');
    pd_text_u64(text, ipc % 100, 2, '0');
    pd_text_string(text, " (");
    pd_text_u64(text, facts->insn_count, 0, ' ');
    pd_text_char(text, '/');
    pd_text_u64(text, facts->cycle_count, 0, ' ');
    pd_text_string(text, ") ");
}

/* ---- calls ---- */

/* The function that a branch is about: the one that is called or the one that ends. */
static const struct pd_symbol *branch_symbol(struct pd_script_worker *worker,
                                             const struct pd_script_event *plan,
                                             const struct pd_sample *sample,
                                             const struct pd_delivered *record, uint64_t *ip)
{
    uint32_t flags = record->facts ? record->facts->flags : 0;
    const struct pd_location *location = NULL;
    *ip = 0;
    if (flags & (PD_IP_CALL | PD_IP_TRACE_BEGIN)) {
        if (plan->address_symbol)
            location = pd_resolve_any(worker->resolver, record->thread, record->number,
                                      sample->cpumode, sample->addr);
        *ip = sample->addr;
    } else if (flags & (PD_IP_RETURN | PD_IP_TRACE_END)) {
        location = pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode,
                              sample->ip);
        *ip = sample->ip;
    }
    return location ? location->sym : NULL;
}

void pd_script_call(struct pd_script_worker *worker, const struct pd_script_event *plan,
                    const struct pd_sample *sample, const struct pd_delivered *record,
                    struct pd_text *text)
{
    enum { INDENT = 4, STEP = 32, SLACK = 52, ADDRESS = 16 };
    uint32_t flags = record->facts ? record->facts->flags : 0;
    size_t depth = record->facts ? record->facts->depth : 0, length = 0;
    uint64_t ip;
    /* When a function returns, its frame is already gone from the depth. */
    if (flags & PD_IP_RETURN && record->facts->has_depth)
        depth++;
    if (plan->fields & PD_FIELD(DSO) && !(plan->fields & (PD_FIELD(IP) | PD_FIELD(ADDR)))) {
        pd_script_dso(worker->script,
                      pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode,
                                 sample->ip),
                      plan->fields & PD_FIELD(DSOFF), text);
        pd_text_char(text, '\t');
    }
    const struct pd_symbol *symbol = branch_symbol(worker, plan, sample, record, &ip);
    size_t before = text->length;
    if (symbol || ip)
        pd_text_fill(text, ' ', depth * INDENT);
    if (symbol)
        pd_text_bytes(text, symbol->name, symbol->name_length);
    else if (ip)
        pd_text_hex(text, ip, ADDRESS, ' ');
    length = text->length - before;
    /* The column behind calls moves in large steps only. */
    size_t *column = &worker->traced.call_column;
    if (length > *column || (length && length + SLACK < *column))
        *column = (length + INDENT + STEP - 1) / STEP * STEP;
    pd_text_pad(text, before, *column);
}

static bool in_list(const char *list, const struct pd_symbol *symbol)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        if (length == symbol->name_length && !memcmp(list, symbol->name, length))
            return true;
        if (!list[length])
            return false;
        list += length + 1;
    }
}

bool pd_script_graph(struct pd_script_worker *worker, const struct pd_script_event *plan,
                     const struct pd_sample *sample, const struct pd_delivered *record)
{
    uint32_t depth = record->facts ? record->facts->depth : 0;
    uint64_t key = record->thread ? record->thread->index : UINT64_MAX, ip;
    uint32_t entered = pd_map64_get(&worker->traced.graph_depths, key);
    if (entered != PD_MAP64_NONE && entered) { /* depth + 1 */
        if (depth >= entered)
            return true;
        pd_map64_set(&worker->traced.graph_depths, key, 0);
        return false;
    }
    const struct pd_symbol *symbol = branch_symbol(worker, plan, sample, record, &ip);
    if (!symbol || !in_list(worker->script->options->graph_functions, symbol))
        return false;
    if (!pd_map64_set(&worker->traced.graph_depths, key, depth + 1))
        worker->failed = true;
    return true;
}
