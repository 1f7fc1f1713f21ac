/* SPDX-License-Identifier: MIT */
/* Instructions: insn and insnlen are about the sample's address; brstackinsn and brstackinsnlen
 * about all instructions that ran between the branches of its stack. */
#include "render/script/plan.h"
#include "format/names.h"
#include "itrace/code/code.h"
#include <sys/utsname.h>

enum {
    BLOCK_LIMIT = 16384, /* a longer block is taken for none: a branch out of it must be missing */
    MISSING_REACH = 128  /* how far to look for a missing branch */
};

/* perf shows code only of recordings made on its own kind of machine. */
bool pd_script_is_native(const struct pd_recording *recording)
{
    const struct pd_features *features = &recording->features;
    struct utsname host;

    if (recording->kind == PD_CONTAINER_PIPE)
        return true;
    if (!features->arch.present || !features->arch.text.text || uname(&host))
        return false;
    const char *arch = features->arch.text.text;
    return !strcmp(host.machine, arch) || !strcmp(pd_arch_normalise(host.machine), arch) ||
           (!strcmp(host.machine, "x86_64") && !strcmp(arch, "i386"));
}

perfdata_status pd_script_open_code(struct pd_script *script)
{
    uint64_t fields = 0;

    for (size_t i = 0; i < script->recording->event_count; i++)
        fields |= script->events[i].fields;
    if (!(fields & PD_INSN_FIELDS) && !script->dlfilter)
        return PERFDATA_OK;
    script->is_native = pd_script_is_native(script->recording);
    return pd_session_code(&script->session) ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

/* ---- insn, insnlen ---- */

/* Puts " insn: 48 89 d0" or, in the form that xed gives it, " \t\tmov %rdx, %rax". */
static void put_code(const struct pd_script *script, uint64_t ip, const uint8_t *bytes,
                     unsigned length, bool is_64_bit, struct pd_text *text)
{
    if (script->options->flags & PERFDATA_SCRIPT_XED) {
        size_t start = text->length;
        pd_text_string(text, "\t\t");
        if (pd_insn_text(bytes, length, is_64_bit, ip, text))
            return;
        text->length = start;
    }
    pd_text_string(text, "insn:");
    for (unsigned i = 0; i < length; i++) {
        pd_text_char(text, ' ');
        pd_text_hex(text, bytes[i], 2, '0');
    }
}

/* Puts a direct branch with its target in words: "callq main+0x10". `start` is where the
 * instruction's text begins. */
static void name_target(struct pd_script_worker *worker, const struct pd_delivered *record,
                        uint8_t cpumode, uint64_t target, size_t start, struct pd_text *text)
{
    const struct pd_location *location = pd_resolve(worker->resolver, record->thread,
                                                    record->number, cpumode, target);
    const struct pd_symbol *symbol = location ? location->sym : NULL;
    size_t end = text->length;

    while (end > start && text->data[end - 1] != ' ')
        end--;
    if (!symbol || end == start || text->failed)
        return;
    text->length = end;
    pd_text_format(text, "%s+0x%llx", symbol->name,
                   (unsigned long long)(location->addr - symbol->start));
}

/* Puts an instruction of `length` bytes as newer versions of perf show it: like xed's text, but
 * with single blanks and with the function that a branch leads to. False: it is no instruction, and
 * nothing was put. */
static bool disassemble(struct pd_script_worker *worker, const struct pd_delivered *record,
                        uint8_t cpumode, uint64_t ip, const uint8_t *bytes, unsigned length,
                        bool is_64_bit, struct pd_text *text)
{
    size_t start = text->length, to = start;
    struct pd_insn insn;

    if (!pd_insn_text(bytes, length, is_64_bit, ip, text))
        return false;
    for (size_t at = start; at < text->length; at++)
        if (text->data[at] != ' ' || (to > start && text->data[to - 1] != ' '))
            text->data[to++] = text->data[at];
    while (to > start && text->data[to - 1] == ' ')
        to--;
    text->length = to;
    if (pd_insn_decode(bytes, length, is_64_bit, &insn) &&
        (insn.branch == PD_BRANCH_CONDITIONAL || insn.branch == PD_BRANCH_UNCONDITIONAL))
        name_target(worker, record, cpumode, ip + length + (uint64_t)(int64_t)insn.rel, start,
                    text);
    return true;
}

unsigned pd_script_read_insn(const struct pd_insn_reader *from, const struct pd_sample *sample,
                             const struct pd_delivered *record, struct pd_insn_bytes *out)
{
    const struct pd_synth_facts *facts = record->facts;
    bool is_known = facts && facts->insn_length; /* a step may not be at the address shown */
    struct pd_insn insn;

    *out = (struct pd_insn_bytes){ .ip = is_known ? facts->insn_ip : sample->ip };
    if (!is_known && (!from->is_native || !out->ip))
        return 0;
    bool guest = sample->cpumode == PD_CPUMODE_GUEST_KERNEL && from->guests;
    const struct pd_thread *thread = is_known && !guest ? facts->insn_thread : record->thread;
    struct pd_code_view *view = pd_code_view(from->code, thread, record->number,
                                             guest ? PD_CODE_GUEST : PD_CODE_HOST);
    size_t size = view ? pd_code_read(view, out->ip, out->bytes, PD_INSN_BUFFER, &out->is_64_bit)
                       : 0;
    if (is_known)
        return facts->insn_length <= size ? facts->insn_length : 0;
    return size && pd_insn_decode(out->bytes, size, out->is_64_bit, &insn) ? insn.length : 0;
}

static unsigned fetch(struct pd_script_worker *worker, const struct pd_sample *sample,
                      const struct pd_delivered *record, uint8_t *bytes, bool *is_64_bit)
{
    const struct pd_insn_reader from = { .code = worker->code,
                                         .is_native = worker->script->is_native,
                                         .guests = worker->script->session.guests.wanted };
    struct pd_insn_bytes insn;
    unsigned length = pd_script_read_insn(&from, sample, record, &insn);
    memcpy(bytes, insn.bytes, sizeof insn.bytes);
    *is_64_bit = insn.is_64_bit;
    return length;
}

unsigned pd_script_fetch_insn(struct pd_script_worker *worker, const struct pd_sample *sample,
                              const struct pd_delivered *record, uint8_t *bytes)
{
    bool is_64_bit;

    return fetch(worker, sample, record, bytes, &is_64_bit);
}

static void make_insn(struct pd_script_worker *worker, uint64_t fields,
                      const struct pd_sample *sample, const struct pd_delivered *record,
                      struct pd_text *text)
{
    uint8_t bytes[PD_INSN_BUFFER];
    bool is_64_bit;
    unsigned length = fetch(worker, sample, record, bytes, &is_64_bit);

    if (fields & PD_FIELD(INSNLEN))
        pd_text_format(text, " ilen: %u", length);
    if (fields & PD_FIELD(INSN) && length) {
        pd_text_char(text, ' ');
        put_code(worker->script, sample->ip, bytes, length, is_64_bit, text);
    }
    if (!(fields & PD_FIELD(DISASM)) || !length)
        return;
    pd_text_string(text, "\t\t");
    if (!disassemble(worker, record, sample->cpumode, sample->ip, bytes, length, is_64_bit, text))
        pd_text_string(text, "illegal instruction");
}

void pd_script_disassemble(struct pd_script_worker *worker, const struct pd_sample *sample,
                           const struct pd_delivered *record, struct pd_text *text)
{
    uint8_t bytes[PD_INSN_BUFFER];
    bool is_64_bit;
    unsigned length = fetch(worker, sample, record, bytes, &is_64_bit);

    if (length)
        disassemble(worker, record, sample->cpumode, sample->ip, bytes, length, is_64_bit, text);
}

/* ---- brstackinsn, brstackinsnlen ---- */

/* One sample's walk along its branches. */
struct walk {
    struct pd_script_worker *worker;
    const struct pd_delivered *record;
    struct pd_code_view *view;
    struct pd_text *text;
    uint64_t fields;
    const struct pd_symbol *symbol; /* named last */
    uint64_t kernel_start;
    unsigned cycles; /* of all branches so far */
    bool is_64_bit, in_kernel;
    const struct pd_branch_counters *counters; /* NULL: not shown */
    uint64_t counter_word;                     /* of the branch under way */
    size_t size;                               /* of what `bytes` holds */
    uint8_t bytes[BLOCK_LIMIT];
};

enum block { BLOCK_NONE, BLOCK_READ, BLOCK_ACROSS /* it would lead from kernel to user or back */ };

static enum block read_block(struct walk *walk, uint64_t start, uint64_t end)
{
    bool kernel = start >= walk->kernel_start;

    walk->size = 0;
    if (!start || !end)
        return BLOCK_NONE;
    walk->in_kernel = kernel;
    if (kernel != (end >= walk->kernel_start))
        return BLOCK_ACROSS;
    if (end - start > BLOCK_LIMIT - PD_INSN_MAX)
        return BLOCK_NONE;
    walk->size = pd_code_read(walk->view, start, walk->bytes, (size_t)(end - start) + PD_INSN_MAX,
                              &walk->is_64_bit);
    return walk->size ? BLOCK_READ : BLOCK_NONE;
}

/* Puts "\tname+off:" where a symbol other than the last one begins. */
static void put_symbol(struct walk *walk, uint64_t ip)
{
    const struct pd_location *location = pd_resolve(
        walk->worker->resolver, walk->record->thread, walk->record->number,
        walk->in_kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER, ip);
    const struct pd_symbol *symbol = location ? location->sym : NULL;

    /* Like perf, compares offsets without regard to the objects that they are in. */
    if (!symbol || (walk->symbol && location->addr >= walk->symbol->start &&
                    location->addr < walk->symbol->end))
        return;
    uint64_t offset = location->addr - symbol->start;
    if (location->addr >= symbol->end)
        offset = location->addr - location->map->start - symbol->start;
    pd_text_format(walk->text, "\t%s", symbol->name);
    if ((int32_t)offset)
        pd_text_format(walk->text, "%+d", (int32_t)offset);
    pd_text_char(walk->text, ':');
    if (walk->fields & PD_FIELD(SRCLINE))
        pd_script_line_of(walk->worker->script, location, location->addr, "\t", walk->text);
    pd_text_char(walk->text, '\n');
    walk->symbol = symbol;
}

static void put_one(const struct walk *walk, uint64_t ip, size_t at, unsigned length)
{
    struct pd_script_worker *worker = walk->worker;
    uint8_t cpumode = walk->in_kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;

    if (!(walk->fields & PD_FIELD(BRSTACKDISASM)) ||
        !disassemble(worker, walk->record, cpumode, ip, walk->bytes + at, length, walk->is_64_bit,
                     walk->text))
        put_code(worker->script, ip, walk->bytes + at, length, walk->is_64_bit, walk->text);
}

/* Puts "\tADDRESS\tinsn: 48 89 d0 ". Returns the instruction's length, 0: it is none. */
static unsigned put_bytes(struct walk *walk, uint64_t ip, size_t at, bool padded)
{
    struct pd_text *text = walk->text;
    struct pd_insn insn = { 0 };

    pd_text_char(text, '\t');
    pd_text_hex(text, ip, 16, '0');
    pd_text_char(text, '\t');
    size_t start = text->length;
    if (at < walk->size &&
        pd_insn_decode(walk->bytes + at, walk->size - at, walk->is_64_bit, &insn)) {
        put_one(walk, ip, at, insn.length);
        pd_text_char(text, ' ');
    } else {
        pd_text_string(text, "<bad>");
    }
    if (padded)
        pd_text_pad(text, start, 30);
    if (walk->fields & PD_FIELD(BRSTACKINSNLEN))
        pd_text_format(text, "\tilen: %u", insn.length);
    return insn.length;
}

/* Puts the branch that ends a block of `insns` instructions (0: unknown). */
static void put_jump(struct walk *walk, const struct pd_branch *branch, size_t at, unsigned insns)
{
    struct pd_text *text = walk->text;
    unsigned cycles = PD_BRANCH_PART(branch->flags, CYCLES);

    put_bytes(walk, branch->from, at, true);
    if (walk->counters) {
        pd_text_string(text, "\tbr_cntr: ");
        pd_branch_counters_text(
            walk->counters, walk->counter_word,
            walk->worker->script->options->flags & PERFDATA_SCRIPT_VERBOSE_NAMES, text);
    }
    pd_text_string(text, "\t#");
    if (PD_BRANCH_PART(branch->flags, PREDICTED))
        pd_text_string(text, " PRED");
    if (PD_BRANCH_PART(branch->flags, MISPRED))
        pd_text_string(text, " MISPRED");
    if (PD_BRANCH_PART(branch->flags, IN_TX))
        pd_text_string(text, " INTX");
    if (PD_BRANCH_PART(branch->flags, ABORT))
        pd_text_string(text, " ABORT");
    if (cycles) {
        walk->cycles += cycles;
        pd_text_format(text, " %u cycles [%u]", cycles, walk->cycles);
        if (insns)
            pd_text_format(text, " %.2f IPC", (double)((float)insns / (float)cycles));
    }
    pd_text_char(text, '\n');
}

/* Puts the block that lies between two branches, including the later one. */
static void put_block(struct walk *walk, uint64_t start, uint64_t end,
                      const struct pd_branch *branch)
{
    uint64_t at = 0;
    unsigned length = 0, insns = 0;

    for (; at < walk->size; at += length) {
        put_symbol(walk, start + at);
        if (start + at == end) {
            put_jump(walk, branch, (size_t)at, insns + 1);
            break;
        }
        length = put_bytes(walk, start + at, (size_t)at, false);
        pd_text_char(walk->text, '\n');
        if (!length)
            break;
        insns++;
    }
    if (at != end - start)
        pd_text_string(walk->text, "\tmismatch of LBR data and executable\n");
}

/* Puts what ran after the newest branch, up to the sample. */
static void put_last_block(struct walk *walk, uint64_t start, uint64_t ip)
{
    /* Here branches are missing: the code is shown up to the next branch instruction. */
    uint64_t end = ip < start ? start + MISSING_REACH : ip;
    struct pd_insn insn;

    enum block block = read_block(walk, start, end);
    put_symbol(walk, start);
    if (block != BLOCK_READ) {
        if (read_block(walk, ip, ip) == BLOCK_READ) {
            put_bytes(walk, ip, 0, false);
            pd_text_char(walk->text, '\n');
        }
        return;
    }
    for (uint64_t at = 0; at <= end - start;) {
        unsigned length = put_bytes(walk, start + at, (size_t)at, false);
        pd_text_char(walk->text, '\n');
        if (!length)
            return;
        if (start + at != ip &&
            pd_insn_decode(walk->bytes + at, walk->size - (size_t)at, walk->is_64_bit, &insn) &&
            insn.branch != PD_BRANCH_NONE) {
            pd_text_string(walk->text, "\t... not reaching sample ...\n");
            return;
        }
        at += length;
    }
}

static void take_counters(struct walk *walk, const struct pd_sample *sample, uint32_t index)
{
    walk->counter_word = sample->branch_counters
                             ? pd_load64(sample->branch_counters + 8 * (size_t)index, sample->swap)
                             : 0;
}

static void put_blocks(struct walk *walk, const struct pd_sample *sample, uint32_t count)
{
    struct pd_branch oldest = pd_branch_at(sample, count - 1);

    pd_text_char(walk->text, '\n');
    /* It is not known where the oldest branch's block begins. */
    if (read_block(walk, oldest.from, oldest.from) == BLOCK_READ) {
        put_symbol(walk, oldest.from);
        take_counters(walk, sample, count - 1);
        put_jump(walk, &oldest, 0, 0);
    }
    for (uint32_t i = count - 1; i-- > 0;) {
        uint64_t start = pd_branch_at(sample, i + 1).to;
        struct pd_branch branch = pd_branch_at(sample, i);
        enum block block = read_block(walk, start, branch.from);
        /* The branches into the kernel and back out of it were not recorded. */
        if (block == BLOCK_ACROSS && i > 0) {
            branch = pd_branch_at(sample, --i);
            block = read_block(walk, start, branch.from);
        }
        take_counters(walk, sample, i);
        if (block == BLOCK_READ)
            put_block(walk, start, branch.from, &branch);
    }
    struct pd_branch newest = pd_branch_at(sample, 0);
    if (newest.from != sample->ip && !PD_BRANCH_PART(newest.flags, ABORT))
        put_last_block(walk, newest.to, sample->ip);
}

static void put_branch_stack(struct pd_script_worker *worker, uint64_t fields,
                             const struct pd_branch_counters *counters,
                             const struct pd_sample *sample, const struct pd_delivered *record,
                             struct pd_text *text)
{
    uint32_t most = worker->script->options->max_blocks, count = sample->branch_count;

    if (!count)
        return;
    if (most && count > most)
        count = most + 1;
    struct walk *walk = malloc(sizeof *walk);
    if (!walk) {
        text->failed = true;
        return;
    }
    *walk = (struct walk){ .worker = worker, .record = record, .text = text, .fields = fields };
    walk->counters = counters;
    walk->kernel_start = pd_symbols_kernel_start(worker->script->session.symbols, record->number);
    walk->view = pd_code_view(worker->code, record->thread, record->number, PD_CODE_HOST);
    if (walk->view)
        put_blocks(walk, sample, count);
    else
        text->failed = true;
    free(walk);
}

/* The code in a map does not change, so the text for an address can be kept as long as its
 * location. */
bool pd_script_keeps_insn(const struct pd_script_worker *worker, const struct pd_sample *sample,
                          const struct pd_delivered *record)
{
    const struct pd_location *location = worker->location;
    const struct pd_synth_facts *facts = record->facts;

    return location && location->map && !location->is_kernel_map &&
           (!facts || !facts->insn_length || facts->insn_ip == sample->ip);
}

static struct pd_insn_text *insn_slot(struct pd_script_worker *worker)
{
    size_t index = worker->location->index;

    if (!pd_vec_widen_to(&worker->texts.insns, index + 1))
        return NULL;
    return &worker->texts.insns.data[index];
}

static bool make_slot(struct pd_script_worker *worker, uint64_t fields,
                      const struct pd_sample *sample, const struct pd_delivered *record,
                      struct pd_insn_text *slot)
{
    struct pd_text text = { 0 };

    make_insn(worker, fields, sample, record, &text);
    char *copy = text.failed ? NULL
                             : pd_arena_alloc(&worker->texts.places, pd_block_room(text.length));
    if (copy) {
        if (text.length)
            memcpy(copy, text.data, text.length);
        *slot = (struct pd_insn_text){ copy, (uint32_t)text.length, fields };
    }
    pd_text_free(&text);
    return copy != NULL;
}

static void put_insn(struct pd_script_worker *worker, uint64_t fields,
                     const struct pd_sample *sample, const struct pd_delivered *record,
                     struct pd_text *text)
{
    struct pd_insn_text *slot = pd_script_keeps_insn(worker, sample, record) ? insn_slot(worker)
                                                                             : NULL;

    fields &= PD_INSN_OF_SAMPLE;
    if (!slot || ((!slot->text || slot->fields != fields) &&
                  !make_slot(worker, fields, sample, record, slot))) {
        make_insn(worker, fields, sample, record, text);
        return;
    }
    char *to = pd_text_room(text, pd_block_room(slot->length));
    if (to) {
        pd_put_block(to, slot->text, slot->length);
        text->length += slot->length;
    }
}

void pd_script_insn(struct pd_script_worker *worker, uint64_t fields,
                    const struct pd_branch_counters *counters, const struct pd_sample *sample,
                    const struct pd_delivered *record, struct pd_text *text)
{
    if (fields & PD_INSN_OF_SAMPLE)
        put_insn(worker, fields, sample, record, text);
    if (fields & PD_INSN_OF_BRANCHES)
        put_branch_stack(worker, fields, counters, sample, record, text);
}
