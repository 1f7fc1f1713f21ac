/* SPDX-License-Identifier: MIT */
/* --pt-events: a line for each event of a trace, as perf's example script intel-pt-events.py prints
 * them. */
#include "render/raw_dump/record_text.h"
#include "format/offsets.h"
#include "render/script/plan.h"
#include <stdio.h>

#define ULL(value) ((unsigned long long)(value))

enum { NS_PER_SECOND = 1000000000 };

void pd_script_pt_frame(const struct pd_script *script, bool end, struct pd_text *text)
{
    uint64_t flags = script->options->flags;
    pd_text_string(text, end                                ? "End\n"
                         : flags & PERFDATA_SCRIPT_PT_INSNS ? "Intel PT Instruction Trace\n"
                         : flags & PERFDATA_SCRIPT_PT_SOURCE
                             ? "Intel PT Source Trace\n"
                             : "Intel PT Branch Trace, Power Events, Event Trace and PTWRITE\n");
}

/* ---- values ---- */

static void put_ptwrite(const struct pd_sample *sample, struct pd_text *text)
{
    pd_text_format(text, "IP: %u payload: 0x%llx ", pd_script_word(sample, 0) & 1,
                   ULL(pd_script_wide(sample, 4)));
    pd_script_letters(pd_script_wide(sample, 4), text);
}

static void put_mwait(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t value = pd_script_wide(sample, 4);
    pd_text_format(text, "hints: 0x%llx extensions: 0x%llx", ULL(value & 0xff),
                   ULL(value >> 32 & 3));
}

static void put_pwrx(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t value = pd_script_wide(sample, 4);
    pd_text_format(text, "deepest cstate: %u last cstate: %u wake reason: 0x%x",
                   (unsigned)(value & 15), (unsigned)(value >> 4 & 15),
                   (unsigned)(value >> 8 & 15));
}

static void put_cbr(const struct pd_sample *sample, struct pd_text *text)
{
    uint32_t value = pd_script_word(sample, 0), cbr = value & 0xff, most = value >> 16 & 0xff;
    pd_text_format(text, "%3u  freq: %4u MHz ", cbr, (pd_script_word(sample, 4) + 500) / 1000);
    if (most)
        pd_text_format(text, " (%3u%%)", (5 + 1000 * cbr / most) / 10);
}

static void put_psb(const struct pd_sample *sample, struct pd_text *text)
{
    pd_text_format(text, "offset: 0x%llx", ULL(pd_script_wide(sample, 4)));
}

/* Puts a value as an ordinary line has it, without the blanks around it. That of evt keeps one. */
static void put_as_ever(const struct pd_sample *sample, struct pd_text *text)
{
    struct pd_text line = { 0 };
    pd_script_values(sample, &line);
    while (line.length && line.data[line.length - 1] == ' ')
        line.length--;
    size_t from = sample->event->attr.config != PD_SYNTH_CONFIG_EVT;
    if (line.length > from)
        pd_text_bytes(text, line.data + from, line.length - from);
    text->failed |= line.failed;
    pd_text_free(&line);
}

static void put_values(const struct pd_sample *sample, struct pd_text *text)
{
    static void (*const own[])(const struct pd_sample *sample, struct pd_text *text) = {
        [PD_SYNTH_CONFIG_PTWRITE] = put_ptwrite, [PD_SYNTH_CONFIG_MWAIT] = put_mwait,
        [PD_SYNTH_CONFIG_PWRX] = put_pwrx,       [PD_SYNTH_CONFIG_CBR] = put_cbr,
        [PD_SYNTH_CONFIG_PSB] = put_psb,
    };
    uint64_t config = sample->event->attr.config;
    if (!pd_script_has_values(sample))
        return;
    if (config < PD_LENGTH(own) && own[config])
        own[config](sample, text);
    else
        put_as_ever(sample, text);
    pd_text_char(text, ' ');
}

/* ---- lines ---- */

static void put_start(const char *name, uint32_t pid, uint32_t tid, uint32_t cpu, uint64_t time,
                      struct pd_text *text)
{
    pd_text_format(text, "%16s %5u/%-5u [%03u] %9llu.%09llu ", name, pid, tid, cpu,
                   ULL(time / NS_PER_SECOND), ULL(time % NS_PER_SECOND));
}

/* Flags that usually stand beside a branch's stand at the right where there is no branch. */
static void put_flags(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text)
{
    const uint32_t aside = PD_IP_IN_TX | PD_IP_INTR_DISABLE | PD_IP_INTR_TOGGLE;
    uint32_t flags = record->facts ? record->facts->flags : 0;
    if (!flags || flags & ~aside) {
        pd_script_flags(worker, record, text);
        return;
    }
    char letters[4] = "";
    snprintf(letters, sizeof letters, "%s%s%s", flags & PD_IP_IN_TX ? "x" : "",
             flags & PD_IP_INTR_DISABLE ? "D" : "", flags & PD_IP_INTR_TOGGLE ? "t" : "");
    pd_text_format(text, "  %21s ", letters);
}

/* The last switch of a CPU is printed only when a sample of this CPU is. */
static void flush_switch(struct pd_script_worker *worker, uint32_t cpu, struct pd_text *text)
{
    uint32_t at = pd_map64_get(&worker->traced.switches, cpu);
    if (at == PD_MAP64_NONE || !worker->traced.switch_texts.data[at].length)
        return;
    struct pd_text *line = &worker->traced.switch_texts.data[at];
    pd_text_bytes(text, line->data, line->length);
    line->length = 0;
}

static void put_place(struct pd_script *script, const struct pd_location *location,
                      struct pd_text *text)
{
    pd_script_symbol(script, PD_FIELD(SYM) | PD_FIELD(SYMOFF) | PD_FIELD(DSO), location, text);
    pd_text_char(text, ' ');
}

static void put_ipc(const struct pd_delivered *record, struct pd_text *text)
{
    const struct pd_synth_facts *facts = record->facts;
    if (facts && facts->cycle_count && facts->insn_count)
        pd_text_format(text, " IPC: %.2f (%llu/%llu)",
                       (double)facts->insn_count / (double)facts->cycle_count,
                       ULL(facts->insn_count), ULL(facts->cycle_count));
}

/* An instruction shows neither name nor flags, except that it ran in a transaction. */
static void put_insn(struct pd_script_worker *worker, const struct pd_sample *sample,
                     const struct pd_delivered *record, struct pd_text *text)
{
    pd_text_string(text, record->facts->flags & PD_IP_IN_TX ? " x " : "   ");
    pd_text_hex(text, sample->ip, 16, ' ');
    put_place(
        worker->script,
        pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode, sample->ip),
        text);
    if (record->facts->cycle_count && record->facts->insn_count)
        pd_text_char(text, ' ');
    put_ipc(record, text);
    pd_text_char(text, '\n');
}

static bool is_made(const struct pd_event *event, const char *name)
{
    return event->synthesised && !strncmp(event->name, name, strlen(name));
}

/* ---- source lines ---- */

enum { SOURCE_WIDTH = 40, SOURCE_TAIL = 37 };

static bool find_line(struct pd_script_worker *worker, const struct pd_location *location,
                      struct pd_source_line *out)
{
    size_t index = location->index;
    if (!pd_vec_widen_to(&worker->traced.lines, index + 1))
        return false;
    struct pd_pt_line *line = &worker->traced.lines.data[index];
    if (!line->known)
        line->known = pd_symbols_line(worker->script->session.symbols, location->map,
                                      location->addr, &line->at);
    *out = line->at;
    return line->known;
}

/* A long path is cut at its beginning. */
static void put_path(const char *path, struct pd_text *text)
{
    size_t length = strlen(path), from = text->length;
    if (length > SOURCE_WIDTH) {
        pd_text_string(text, "...");
        path += length - SOURCE_TAIL;
    }
    pd_text_string(text, path);
    pd_text_pad(text, from, SOURCE_WIDTH);
}

/* A line that was just shown is not shown again, not even for another thread. */
static bool is_shown(struct pd_script_worker *worker, const char *file, unsigned line)
{
    bool same = worker->traced.file && worker->traced.line == line &&
                (worker->traced.file == file || !strcmp(worker->traced.file, file));
    worker->traced.file = file;
    worker->traced.line = line;
    return same;
}

/* Puts the file and line, or the object where these are not known. */
static void put_source(struct pd_script_worker *worker, const struct pd_location *location,
                       struct pd_text *text)
{
    struct pd_source_line at = { .answer = PD_LINES_NOTHING };
    struct pd_source_text line = { 0 };
    if (location->map && !find_line(worker, location, &at)) {
        text->failed = true;
        return;
    }
    if (at.answer == PD_LINES_NOTHING) {
        const char *name = location->map && location->dso ? location->dso->name : "[unknown]";
        if (!is_shown(worker, name, 0))
            pd_text_string(text, name);
        return;
    }
    const char *file = at.answer == PD_LINES_FOUND ? at.file : "??";
    if (is_shown(worker, file, at.line))
        return;
    put_path(file, text);
    pd_text_format(text, " %4u ", at.line);
    if (at.answer == PD_LINES_FOUND && !pd_script_source_text(worker->source, file, at.line, &line))
        text->failed = true;
    if (line.text)
        pd_text_bytes(text, line.text, line.length);
    else
        pd_text_string(text, "<source not found>");
}

static void put_source_line(struct pd_script_worker *worker, const struct pd_sample *sample,
                            const struct pd_delivered *record, struct pd_text *text)
{
    const struct pd_location *location = pd_resolve(worker->resolver, record->thread,
                                                    record->number, sample->cpumode, sample->ip);
    if (!location) {
        text->failed = true;
        return;
    }
    pd_text_char(text, ' ');
    size_t from = text->length;
    if (location->sym)
        pd_script_name(location, true, text);
    else
        pd_text_hex(text, sample->ip, 16, ' ');
    pd_text_pad(text, from, SOURCE_WIDTH);
    pd_text_char(text, ' ');
    put_source(worker, location, text);
    pd_text_char(text, '\n');
}

/* ---- samples and records ---- */

void pd_script_pt_sample(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    struct pd_script *script = worker->script;
    const struct pd_comm *comm = record->thread ? pd_thread_comm(record->thread, record->number)
                                                : NULL;
    flush_switch(worker, sample->cpu, text);
    put_start(comm ? pd_comm_text(comm, record->number) : ":-1", sample->pid, sample->tid,
              sample->cpu, sample->time == PD_NO_TIME ? 0 : sample->time, text);
    bool insn = is_made(plan->event, "instructions") && record->facts;
    if (script->options->flags & PERFDATA_SCRIPT_PT_SOURCE &&
        (insn || is_made(plan->event, "branches"))) {
        put_source_line(worker, sample, record, text);
        return;
    }
    if (insn) {
        put_insn(worker, sample, record, text);
        return;
    }
    pd_text_char(text, ' ');
    pd_text_right(text, plan->event->name, strlen(plan->event->name), 8);
    put_flags(worker, record, text);
    put_values(sample, text);
    pd_text_hex(text, sample->ip, 16, ' ');
    put_place(
        script,
        pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode, sample->ip),
        text);
    if (plan->branch_trace) {
        pd_text_string(text, "=> ");
        pd_text_hex(text, sample->addr, 0, ' ');
        put_place(script,
                  pd_resolve_any(worker->resolver, record->thread, record->number, sample->cpumode,
                                 sample->addr),
                  text);
        if (text->length)
            text->length--;
        if (record->facts && record->facts->cycle_count && record->facts->insn_count)
            pd_text_char(text, ' ');
    }
    put_ipc(record, text);
    pd_text_char(text, '\n');
}

static void take_switch(struct pd_script_worker *worker, const struct pd_delivered *record)
{
    struct pd_identity who;
    bool out = record->misc & PD_MISC_SWITCH_OUT, swap = worker->script->recording->swap;
    uint32_t other[2] = { UINT32_MAX, UINT32_MAX };
    pd_record_identity(record->event, record->data, record->size, record->type, &who);
    if (record->type == PD_RECORD_SWITCH_CPU_WIDE && record->size >= 16) {
        other[0] = pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_pid), swap);
        other[1] = pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_tid), swap);
    }
    uint32_t at = pd_map64_get(&worker->traced.switches, who.cpu);
    if (at == PD_MAP64_NONE) {
        at = (uint32_t)worker->traced.switch_texts.count;
        if (!pd_vec_push(&worker->traced.switch_texts, (struct pd_text){ 0 }) ||
            !pd_map64_set(&worker->traced.switches, who.cpu, at)) {
            worker->failed = true;
            return;
        }
    }
    struct pd_text *line = &worker->traced.switch_texts.data[at];
    line->length = 0;
    put_start(out ? "Switch out " : "Switch In  ", who.pid, who.tid, who.cpu,
              who.time == PD_NO_TIME ? 0 : who.time, line);
    pd_text_format(line, "%5d/%-5d  \n", (int32_t)other[0], (int32_t)other[1]);
    worker->failed |= line->failed;
}

void pd_script_pt_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                         struct pd_text *text)
{
    struct pd_record_auxtrace_error error;
    struct pd_arena arena = { 0 };
    if (record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE) {
        take_switch(worker, record);
        if (worker->script->options->flags & PERFDATA_SCRIPT_PT_SWITCHES) {
            struct pd_identity who;
            pd_record_identity(record->event, record->data, record->size, record->type, &who);
            flush_switch(worker, who.cpu, text);
        }
        return;
    }
    if (record->type != PD_RECORD_AUXTRACE_ERROR ||
        pd_record_decode(NULL, record->data, record->size, worker->script->recording->swap, &arena,
                         &error, sizeof error) < 0)
        return;
    pd_text_format(
        text, "%16s %5d/%-5d [%03d] %9llu.%09llu  error type %u code %u: ", "Trace error",
        (int32_t)error.pid, (int32_t)error.tid, (int32_t)error.cpu, ULL(error.time / NS_PER_SECOND),
        ULL(error.time % NS_PER_SECOND), error.error_type, error.code);
    if (error.msg.text)
        pd_text_bytes(text, error.msg.text, error.msg.length);
    pd_text_format(text, " ip 0x%16llx\n", ULL(error.ip));
    pd_arena_free(&arena);
}

void pd_script_pt_free(struct pd_script_worker *worker)
{
    for (size_t i = 0; i < worker->traced.switch_texts.count; i++)
        pd_text_free(&worker->traced.switch_texts.data[i]);
    pd_vec_free(&worker->traced.lines);
    pd_vec_free(&worker->traced.switch_texts);
    pd_map64_free(&worker->traced.switches);
}
