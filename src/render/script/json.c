/* SPDX-License-Identifier: MIT */
/* --json: the chosen fields of a sample as one object on a line, by name. Types are those of `dump
 * --json`: addresses are hexadecimal strings, times decimal ones, counts numbers. */
#include "render/script/json.h"
#include "format/names.h"
#include <stdlib.h>

static void put_key(struct pd_text *text, const char *key)
{
    pd_text_char(text, '"');
    pd_text_string(text, key);
    pd_text_bytes(text, "\":", 2);
}

/* Every value is followed by a comma; end() turns the last one into the bracket. */
static void end(struct pd_text *text, char bracket)
{
    if (text->length && text->data[text->length - 1] == ',')
        text->length--;
    pd_text_char(text, bracket);
    pd_text_char(text, ',');
}

static void put_hex(struct pd_text *text, const char *key, uint64_t value)
{
    put_key(text, key);
    pd_text_bytes(text, "\"0x", 3);
    pd_text_hex(text, value, 0, ' ');
    pd_text_bytes(text, "\",", 2);
}

static void put_decimal(struct pd_text *text, const char *key, uint64_t value)
{
    put_key(text, key);
    pd_text_char(text, '"');
    pd_text_u64(text, value, 0, ' ');
    pd_text_bytes(text, "\",", 2);
}

static void put_number(struct pd_text *text, const char *key, uint64_t value)
{
    put_key(text, key);
    pd_text_u64(text, value, 0, ' ');
    pd_text_char(text, ',');
}

static void put_signed(struct pd_text *text, const char *key, int64_t value)
{
    put_key(text, key);
    pd_text_i64(text, value, 0);
    pd_text_char(text, ',');
}

static void put_string(struct pd_text *text, const char *key, const char *value, size_t length)
{
    put_key(text, key);
    pd_text_json(text, value, length);
    pd_text_char(text, ',');
}

static void put_bytes(struct pd_text *text, const char *key, const uint8_t *bytes, size_t size)
{
    put_key(text, key);
    pd_text_char(text, '"');
    pd_text_hex_bytes(text, bytes, size);
    pd_text_bytes(text, "\",", 2);
}

/* Puts as a value what another function writes for text lines, without the blanks around it. */
static void put_trimmed(struct pd_text *text, const char *key, struct pd_text *value)
{
    size_t from = 0, until = value->length;
    while (from < until && value->data[from] == ' ')
        from++;
    while (until > from && value->data[until - 1] == ' ')
        until--;
    if (until > from)
        put_string(text, key, value->data + from, until - from);
    text->failed |= value->failed;
    pd_text_free(value);
}

/* ---- places ---- */

/* Puts a location under keys that begin with `prefix`. */
struct place_keys {
    const char *ip, *sym, *symoff, *dso, *dsoff;
};
static const struct place_keys own_keys = { "ip", "sym", "symoff", "dso", "dsoff" },
                               address_keys = { "addr", "addr_sym", "addr_symoff", "addr_dso",
                                                "addr_dsoff" },
                               from_keys = { "from", "from_sym", "from_symoff", "from_dso",
                                             "from_dsoff" },
                               to_keys = { "to", "to_sym", "to_symoff", "to_dso", "to_dsoff" };

static void put_symbol(const struct pd_script *script, uint64_t fields,
                       const struct place_keys *keys, const struct pd_location *at,
                       struct pd_text *text)
{
    const struct pd_symbol *symbol = at->sym;
    if (symbol && fields & PD_FIELD(SYM)) {
        put_string(text, keys->sym, symbol->name, symbol->name_length);
        if (fields & PD_FIELD(SYMOFF))
            put_hex(text, keys->symoff, pd_script_offset(at));
    }
    if (at->map && at->dso && fields & PD_FIELD(DSO)) {
        const char *name = script->form.kernel_path
                               ? pd_symbols_long_name(script->session.symbols, at->dso)
                               : at->dso->name;
        put_string(text, keys->dso, name, strlen(name));
        if (fields & PD_FIELD(DSOFF))
            put_hex(text, keys->dsoff, at->addr);
    }
}

static void put_line(struct pd_script *script, const struct pd_location *at, struct pd_text *text)
{
    struct pd_source_line line = { .answer = PD_LINES_NAMELESS };
    if (!at->map)
        return;
    if (!pd_script_find_line(script, at, at->addr, &line))
        text->failed = true;
    if (line.answer != PD_LINES_FOUND)
        return;
    put_string(text, "file", line.file, strlen(line.file));
    put_number(text, "line", line.line);
}

static void put_place(struct pd_script *script, uint64_t fields, const struct pd_location *at,
                      struct pd_text *text)
{
    if (fields & PD_FIELD(IP))
        put_hex(text, own_keys.ip, at->ip);
    put_symbol(script, fields, &own_keys, at, text);
    if (at->sym && at->sym->inlined) {
        put_key(text, "inlined");
        pd_text_string(text, "true,");
    }
    if (fields & PD_FIELD(SRCLINE))
        put_line(script, at, text);
}

static void put_chain(struct pd_script_worker *worker, const struct pd_script_event *plan,
                      const struct pd_sample *sample, const struct pd_delivered *record,
                      struct pd_text *text)
{
    struct pd_script *script = worker->script;
    bool invalid;
    size_t count;
    const struct pd_frame *frames = pd_script_frames(worker, sample, record, &count, &invalid);
    bool callers_first = script->itrace.callers_first;
    put_key(text, "callchain");
    pd_text_char(text, '[');
    for (size_t i = 0; frames && i < count; i++) {
        const struct pd_location *at = frames[callers_first ? count - 1 - i : i].location;
        if (!at) {
            text->failed = true;
            return;
        }
        pd_text_char(text, '{');
        put_place(script, plan->fields, at, text);
        end(text, '}');
        if (at->sym && pd_name_set_has(&script->stop, at->sym->name, at->sym->name_length))
            break;
    }
    text->failed |= !frames;
    end(text, ']');
}

static void put_address(struct pd_script_worker *worker, const struct pd_script_event *plan,
                        const struct pd_sample *sample, const struct pd_delivered *record,
                        struct pd_text *text)
{
    put_hex(text, address_keys.ip, sample->addr);
    if (!plan->address_symbol)
        return;
    const struct pd_location *at = pd_resolve_any(worker->resolver, record->thread, record->number,
                                                  sample->cpumode, sample->addr);
    if (at)
        put_symbol(worker->script, plan->fields, &address_keys, at, text);
    text->failed |= !at;
}

/* ---- parts of a sample ---- */

static void put_branch_end(struct pd_script_worker *worker, const struct pd_script_event *plan,
                           const struct pd_sample *sample, const struct pd_delivered *record,
                           const struct place_keys *keys, uint64_t address, struct pd_text *text)
{
    put_hex(text, keys->ip, address);
    if (!(plan->fields & PD_FIELD(BRSTACKSYM)))
        return;
    const struct pd_location *at = pd_resolve_any(worker->resolver, record->thread, record->number,
                                                  sample->cpumode, address);
    if (at)
        put_symbol(worker->script, plan->fields | PD_FIELD(SYM) | PD_FIELD(SYMOFF), keys, at, text);
    text->failed |= !at;
}

static void put_branches(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    put_key(text, "branches");
    pd_text_char(text, '[');
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        struct pd_branch branch = pd_branch_at(sample, i);
        pd_text_char(text, '{');
        put_branch_end(worker, plan, sample, record, &from_keys, branch.from, text);
        put_branch_end(worker, plan, sample, record, &to_keys, branch.to, text);
#define BRANCH_FLAG(NAME, name, width, le, be)                                                     \
    put_number(text, #name, PD_BRANCH_PART(branch.flags, NAME));
#define DATA_SRC(NAME, name, shift, width)
#include "format/words.def"
#undef BRANCH_FLAG
#undef DATA_SRC
        end(text, '}');
    }
    end(text, ']');
}

static void put_registers(const struct pd_script *script, const char *key, uint64_t abi,
                          uint64_t mask, const uint8_t *registers, bool swap, struct pd_text *text)
{
    const char *arch = pd_features_arch(&script->recording->features);
    if (!registers)
        return;
    put_key(text, key);
    pd_text_char(text, '[');
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(mask >> bit & 1))
            continue;
        const char *name = pd_register_name(arch, bit, abi);
        pd_text_char(text, '{');
        put_number(text, "index", bit);
        put_string(text, "name", name, strlen(name));
        put_hex(text, "value", pd_load64(registers, swap));
        end(text, '}');
        registers += 8;
    }
    end(text, ']');
}

/* Puts a number of so many bytes; one of eight is a string, since readers of JSON may not keep all
 * its bits. */
static void put_sized(struct pd_text *text, const struct pd_trace_field *field, uint64_t value)
{
    bool wide = field->size > 4;
    if (field->kind == PD_TRACE_POINTER) {
        put_hex(text, field->name, value);
        return;
    }
    put_key(text, field->name);
    pd_text_string(text, wide ? "\"" : "");
    if (field->kind == PD_TRACE_SIGNED)
        pd_text_i64(text, (int64_t)value, 0);
    else
        pd_text_u64(text, value, 0, ' ');
    pd_text_string(text, wide ? "\"," : ",");
}

static void put_payload_field(const struct pd_trace_format *format,
                              const struct pd_trace_field *field, const struct pd_sample *sample,
                              struct pd_text *text)
{
    uint64_t value;
    size_t length = 0;
    if (field->kind != PD_TRACE_STRING && field->kind != PD_TRACE_ARRAY) {
        if (pd_trace_number(format, field, sample->raw, sample->raw_size, &value))
            put_sized(text, field, value);
        return;
    }
    const uint8_t *bytes = pd_trace_bytes(format, field, sample->raw, sample->raw_size, &length);
    if (!bytes)
        return;
    if (field->kind == PD_TRACE_STRING)
        put_string(text, field->name, (const char *)bytes, strnlen((const char *)bytes, length));
    else
        put_bytes(text, field->name, bytes, length);
}

static void put_payload(const struct pd_script_event *plan, const struct pd_sample *sample,
                        struct pd_text *text)
{
    const struct pd_trace_format *format = plan->format;
    if (!format || !sample->raw)
        return;
    put_key(text, "trace");
    pd_text_char(text, '{');
    for (size_t i = 0; i < pd_trace_field_count(format); i++)
        if (!pd_trace_field_at(format, i)->common)
            put_payload_field(format, pd_trace_field_at(format, i), sample, text);
    end(text, '}');
}

/* ---- the fields in the order of the text ---- */

static void put_task(const struct pd_script *script, uint64_t fields,
                     const struct pd_line_start *start, struct pd_text *text)
{
    if (start->vcpu && fields & PD_FIELD(MACHINE_PID))
        put_signed(text, "machine_pid", (int32_t)start->machine_pid);
    if (start->vcpu && fields & PD_FIELD(VCPU))
        put_number(text, "vcpu", start->vcpu - 1);
    if (fields & PD_FIELD(COMM))
        put_string(text, "comm", start->comm, strlen(start->comm));
    if (fields & PD_FIELD(PID))
        put_signed(text, "pid", (int32_t)start->pid);
    if (fields & PD_FIELD(TID))
        put_signed(text, "tid", (int32_t)start->tid);
    if (fields & PD_FIELD(CPU))
        put_signed(text, "cpu", (int32_t)start->cpu);
    if (fields & PD_FIELD(MISC))
        put_number(text, "misc", start->misc);
    if (fields & PD_FIELD(TOD))
        put_decimal(text, "tod", script->clock.wall + (start->time - script->clock.time));
    if (fields & PD_FIELD(TIME) && start->time != UINT64_MAX)
        put_decimal(text, "time", start->time);
}

static void put_before_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                          const struct pd_sample *sample, const struct pd_delivered *record,
                          struct pd_text *text)
{
    bool parts = plan->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    struct pd_text made = { 0 };
    if (plan->fields & PD_FIELD(FLAGS) && record->facts) {
        const struct pd_flag_text *flags = pd_script_flag_text(worker, record->facts->flags);
        pd_text_bytes(&made, flags->text, PD_MIN(flags->length, (uint32_t)sizeof flags->text));
        put_trimmed(text, "flags", &made);
    }
    if (plan->fields & PD_FIELD(TRACE))
        put_payload(plan, sample, text);
    made = (struct pd_text){ 0 };
    if (plan->fields & PD_FIELD(SYNTH) && pd_script_has_values(sample)) {
        pd_script_values(sample, &made);
        put_trimmed(text, "synth", &made);
    }
    if (plan->fields & PD_FIELD(ADDR) || (plan->branch_trace && plan->address_shown))
        put_address(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(DATA_SRC))
        put_hex(text, "data_src", sample->data_src);
    if (plan->fields & PD_FIELD(WEIGHT))
        put_decimal(text, "weight", parts ? (uint32_t)sample->weight : sample->weight);
    if (plan->fields & PD_FIELD(INS_LAT))
        put_number(text, "ins_lat", parts ? (uint16_t)(sample->weight >> 32) : 0);
    if (plan->fields & PD_FIELD(RETIRE_LAT))
        put_number(text, "retire_lat", parts ? (uint16_t)(sample->weight >> 48) : 0);
}

static void put_disasm(struct pd_script_worker *worker, const struct pd_sample *sample,
                       const struct pd_delivered *record, struct pd_text *text)
{
    struct pd_text shown = { 0 };
    pd_script_disassemble(worker, sample, record, &shown);
    if (shown.length)
        put_string(text, "disasm", shown.data, shown.length);
    text->failed |= shown.failed;
    pd_text_free(&shown);
}

static void put_word_address(struct pd_text *text, const char *key, uint64_t address)
{
    put_hex(text, key, address);
}

static void put_word_page_size(struct pd_text *text, const char *key, uint64_t size)
{
    put_number(text, key, size);
}

static void put_words(uint64_t fields, const struct pd_sample *sample, struct pd_text *text)
{
#define FIELD(NAME, name, done, needs, wanted, aux, about)
#define WORD(NAME, name, needs, wanted, aux, about, member, form)                                  \
    if (fields & PD_FIELD(NAME))                                                                   \
        put_word_##form(text, name, sample->member);
#include "render/script/fields.def"
#undef FIELD
}

static void put_after_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    const struct pd_attr *attr = &plan->event->attr;
    uint64_t fields = plan->fields;
    if (fields & PD_FIELD(IREGS))
        put_registers(worker->script, "intr_regs", sample->intr_abi, attr->sample_regs_intr,
                      sample->intr_regs, sample->swap, text);
    if (fields & PD_FIELD(UREGS))
        put_registers(worker->script, "user_regs", sample->user_abi, attr->sample_regs_user,
                      sample->user_regs, sample->swap, text);
    if (fields & (PD_FIELD(BRSTACK) | PD_FIELD(BRSTACKSYM)) && sample->branches)
        put_branches(worker, plan, sample, record, text);
    if (plan->bpf_output && sample->raw)
        put_bytes(text, "bpf_output", sample->raw, sample->raw_size);
    if (fields & PD_INSN_OF_SAMPLE) {
        uint8_t bytes[PD_INSN_BUFFER];
        unsigned size = pd_script_fetch_insn(worker, sample, record, bytes);
        if (size && fields & PD_FIELD(INSN))
            put_bytes(text, "insn", bytes, size);
        if (size && fields & PD_FIELD(INSNLEN))
            put_number(text, "insnlen", size);
        if (size && fields & PD_FIELD(DISASM))
            put_disasm(worker, sample, record, text);
    }
    if (fields & pd_word_fields)
        put_words(fields, sample, text);
    const char *cgroup = fields & PD_FIELD(CGROUP)
                             ? pd_timeline_cgroup(worker->script->session.timeline, record->number,
                                                  sample->cgroup)
                             : NULL;
    if (cgroup)
        put_string(text, "cgroup", cgroup, strlen(cgroup));
    else if (fields & PD_FIELD(CGROUP))
        put_decimal(text, "cgroup_id", sample->cgroup);
    if (fields & PD_FIELD(IPC) && record->facts) {
        put_number(text, "insn_count", record->facts->insn_count);
        put_number(text, "cycle_count", record->facts->cycle_count);
    }
}

void pd_script_json(struct pd_script_worker *worker, const struct pd_script_event *plan,
                    const struct pd_line_start *start, const struct pd_sample *sample,
                    const struct pd_delivered *record, struct pd_text *text)
{
    struct pd_script *script = worker->script;
    pd_text_char(text, '{');
    put_task(script, plan->fields, start, text);
    if (plan->fields & PD_FIELD(PERIOD))
        put_decimal(text, "period", sample->period);
    if (plan->fields & PD_FIELD(EVENT))
        put_string(text, "event", plan->event->name, strlen(plan->event->name));
    put_before_ip(worker, plan, sample, record, text);
    if (plan->fields & PD_FIELD(IP)) {
        const struct pd_location *at = pd_resolve(worker->resolver, record->thread, record->number,
                                                  sample->cpumode, sample->ip);
        if (at)
            put_place(script, plan->fields, at, text);
        text->failed |= !at;
        if (plan->has_chain && sample->callchain)
            put_chain(worker, plan, sample, record, text);
    }
    put_after_ip(worker, plan, sample, record, text);
    end(text, '}');
    text->length -= text->length > 0; /* end()'s comma */
    pd_text_char(text, '\n');
}

void pd_script_json_other(struct pd_text *made, struct pd_text *text)
{
    while (made->length && made->data[made->length - 1] == '\n')
        made->length--;
    if (made->length) {
        pd_text_bytes(text, "{\"error\":", 9);
        pd_text_json(text, made->data, made->length);
        pd_text_bytes(text, "}\n", 2);
    }
    text->failed |= made->failed;
    pd_text_free(made);
}

/* ---- what has no such form ---- */

perfdata_status pd_script_json_check(const struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    uint64_t never = PERFDATA_SCRIPT_RELTIME | PERFDATA_SCRIPT_DELTATIME | PERFDATA_SCRIPT_LATENCY |
                     PERFDATA_SCRIPT_HEADER | PERFDATA_SCRIPT_HEADER_ONLY |
                     PERFDATA_SCRIPT_HEADER_FULL | PERFDATA_SCRIPT_DUMP | PERFDATA_SCRIPT_XED |
                     PERFDATA_SCRIPT_UNSORTED | PERFDATA_SCRIPT_PT_EVENTS;
    const char *wrong = options->flags & never ? "another view, a header or another clock"
                        : options->show        ? "records that are no samples"
                        : options->dlfilter    ? "a dlfilter, which may print"
                        : options->max_blocks  ? "blocks of branch stacks"
                        : options->dso_width   ? "padded names"
                        : script->itrace.log   ? "the log of a trace"
                        : script->is_stat      ? "counters of perf stat"
                                               : NULL;
    return wrong ? pd_fail(&script->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "JSON has no place for %s", wrong)
                 : PERFDATA_OK;
}

perfdata_status pd_script_json_check_fields(const struct pd_script *script, uint64_t fields)
{
    static const struct {
        uint64_t field;
        const char *name;
    } rows[] = {
        { PD_FIELD(BRSTACKINSN), "brstackinsn" },
        { PD_FIELD(BRSTACKINSNLEN), "brstackinsnlen" },
        { PD_FIELD(BRSTACKDISASM), "brstackdisasm" },
        { PD_FIELD(BRSTACKOFF), "brstackoff" },
        { PD_FIELD(BRCNTR), "brcntr" },
        { PD_FIELD(CALLINDENT), "callindent" },
        { PD_FIELD(SRCCODE), "srccode" },
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (fields & rows[i].field)
            return pd_fail(&script->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                           "field '%s' has no form in JSON", rows[i].name);
    return PERFDATA_OK;
}
