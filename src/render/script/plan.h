/* SPDX-License-Identifier: MIT */
/* script in four parts: which fields each event prints (fields.c), the lines of samples (line.c,
 * with the texts of addresses in place.c), the lines of other records (records.c), the run
 * (script.c). */
#ifndef PD_SCRIPT_PLAN_H
#define PD_SCRIPT_PLAN_H
#include "base/arena.h"
#include "base/digits.h"
#include "base/hash.h"
#include "select/event_switch.h"
#include "select/filter.h"
#include "render/counters.h"
#include "render/raw_dump/raw_dump.h"
#include "render/raw_dump/trace_log.h"
#include "pipeline/pipeline.h"
#include "resolve/chain_memo.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/script.h>
#include <stdatomic.h>

enum pd_field_index {
#define FIELD(NAME, text, done, needs, wanted, aux, about) PD_FIELD_INDEX_##NAME,
#include "render/script/fields.def"
#undef FIELD
    PD_FIELD_COUNT
};

#define PD_FIELD(NAME) (UINT64_C(1) << PD_FIELD_INDEX_##NAME)

/* The fields that are a word of the sample. */
#define FIELD(NAME, text, done, needs, wanted, aux, about)
#define WORD(NAME, text, needs, wanted, aux, about, member, form) | PD_FIELD(NAME)
static const uint64_t pd_word_fields = 0
#include "render/script/fields.def"
    ;
#undef FIELD

/* perf keeps one set of fields per kind of event. */
enum pd_script_kind {
    PD_SCRIPT_HW,
    PD_SCRIPT_SW,
    PD_SCRIPT_TRACE,
    PD_SCRIPT_CACHE,
    PD_SCRIPT_RAW,
    PD_SCRIPT_BREAK,
    PD_SCRIPT_SYNTH,
    PD_SCRIPT_OTHER,
    PD_SCRIPT_KINDS
};

struct pd_script_fields {
    uint64_t fields;
    uint64_t asked;   /* by the user, for all kinds: it is an error if one is missing */
    uint64_t removed; /* by the user */
    bool user_set, wildcard;
};

/* What an event's lines look like: made once, then read by all workers. */
struct pd_script_event {
    const struct pd_event *event;
    uint64_t fields;
    const char *name; /* formatted as "%*s: " */
    size_t name_length;
    bool has_chain;      /* a chain follows the line */
    bool plain_comm;     /* comm is not padded */
    bool address_symbol; /* addr can be a symbol */
    bool branch_trace;   /* BTS, which has its own order of fields */
    bool address_shown;  /* BTS: the target */
    bool bpf_output;
    struct pd_branch_counters *counters;  /* with field brcntr, else NULL */
    bool series;                          /* lines may come in series: see series.c */
    const struct pd_trace_format *format; /* of a tracepoint whose payload is printed, else NULL */
};

enum pd_time_form { PD_TIME_USEC, PD_TIME_NSEC };

/* What lines look like apart from their fields, by the options and by what the recording has. */
struct pd_script_form {
    bool use_callchain, latency, kernel_path, full_source_path;
    enum pd_time_form time;
    unsigned max_stack;
    size_t line_room;     /* for a line up to the event's name */
    size_t widest_source; /* of data_src */
};

/* Times that depend on the samples before. */
struct pd_script_order {
    bool sequential; /* --reltime, --deltatime */
    uint64_t misordered;
    uint64_t first_time, last_time;
};

/* CLOCK_DATA, for the field tod. */
struct pd_script_clock {
    bool known;
    uint64_t time, wall;
};

/* What -D needs. */
struct pd_script_raw {
    struct pd_raw_dump *dump; /* NULL without it */
    struct pd_trace_log log;
    uint64_t line_types[2]; /* the record types that have lines as well */
};

struct pd_script {
    struct pd_recording *recording;
    struct pd_session session;
    const struct perfdata_script_options *options;
    struct pd_itrace_options itrace;
    struct pd_filter filter;
    struct pd_event_switch event_switch; /* any switch makes the run use one thread */
    struct pd_name_set stop;
    struct pd_arena arena;
    struct pd_script_fields kinds[PD_SCRIPT_KINDS];
    struct pd_script_event *events; /* by the event's index */
    struct pd_script_form form;
    struct pd_script_order order;
    struct pd_script_clock clock;
    struct pd_script_raw raw;
    struct pd_tracing *tracing;   /* NULL until a tracepoint's payload is to be printed */
    struct pd_dlfilter *dlfilter; /* NULL: none */
    bool filter_failed;
    bool is_native; /* recorded on this kind of machine: code can be shown */
    bool is_stat;   /* a recording of perf stat: one worker only */
    perfdata_write_fn write;
    void *write_data;
    _Atomic uint64_t samples, errors;
    int perf_exit;
};

/* The fields on which the text of an address depends. */
#define PD_PLACE_FIELDS                                                                            \
    (PD_FIELD(SYM) | PD_FIELD(SYMOFF) | PD_FIELD(DSO) | PD_FIELD(DSOFF) | PD_FIELD(SRCLINE))

/* The text that follows an address, kept as long as its location. There is one for each set of
 * fields that was met. */
struct pd_place {
    struct pd_place *next;
    uint64_t fields;
    uint32_t length;
    bool stop; /* chains end at this address */
    char text[];
};

/* Short texts are copied in blocks of a fixed size, which costs no call; what is copied from and to
 * has that room. */
#define PD_COPY_BLOCK 64

PD_INLINE char *pd_put_block(char *to, const char *from, size_t length)
{
    memcpy(to, from, PD_COPY_BLOCK);
    for (size_t at = PD_COPY_BLOCK; at < length; at += PD_COPY_BLOCK)
        memcpy(to + at, from + at, PD_COPY_BLOCK);
    return to + length;
}

PD_INLINE size_t pd_block_room(size_t length)
{
    return (length / PD_COPY_BLOCK + 1) * PD_COPY_BLOCK;
}

enum { PD_ADDRESS_WIDTH = 16 };

/* The padded text of a thread's name, kept for its next line: at least 16 wide, with a blank
 * behind. */
struct pd_comm_text {
    const char *comm; /* NULL: free */
    uint32_t length;  /* at most 15 */
    char padded[20];
};

#define PD_COMM_TEXTS 64 /* a power of 2 */

/* The beginning of a line, comm to misc, as it was last printed for a CPU. A thread runs on one CPU
 * for some time, while lines of other CPUs come in between. */
struct pd_head_text {
    const struct pd_script_event *plan; /* NULL: nothing yet */
    const char *comm;
    uint32_t pid, tid, cpu, type;
    uint16_t misc;
    uint32_t length;
    char text[PD_COPY_BLOCK];
};

#define PD_HEAD_TEXTS 64 /* a power of 2 */

/* The text of a time, kept for the next sample of that time. */
struct pd_time_text {
    uint64_t time;
    unsigned length; /* 0: nothing yet */
    char text[PD_COPY_BLOCK];
};

#define PD_CHAIN_TEXTS 8192 /* a power of 2 */
/* Bytes of chain texts kept before all are dropped. */
#define PD_CHAIN_MEMORY (UINT64_C(4) << 20)
#define PD_KERNEL_TEXTS 16384
#define PD_KERNEL_MEMORY (UINT64_C(12) << 20)

/* Where a time is to be put into a batch's text, which pd_script_in_order() does. */
struct pd_time_gap {
    size_t position;
    uint64_t time;
};

/* Where the text of a sample ends, and its event; UINT32_MAX for text of anything else. */
struct pd_script_mark {
    size_t end;
    uint32_t event;
};

struct pd_time_gaps {
    PD_VEC(struct pd_script_mark) marks;
    PD_VEC(struct pd_time_gap) gaps;
    struct pd_text spare;
};

/* The text of a sample's flags, made once for each value. */
struct pd_flag_text {
    uint32_t flags, length; /* length 0: free */
    char text[64];
};

/* The text of an address's instruction, kept as long as its location. */
struct pd_insn_text {
    const char *text; /* NULL: not made */
    uint32_t length;
    uint64_t fields;
};

/* The source line of an address, kept as long as its location. */
struct pd_pt_line {
    struct pd_source_line at;
    bool known;
};

/* What follows any address of one function, or of one gap between functions. Where an offset is
 * shown, it stands between the head and the tail. */
struct pd_span_text {
    const struct pd_dso *dso; /* NULL: for addresses that no object has */
    uint64_t from, size;      /* addresses in the object that have this text */
    uint64_t start;           /* of the function: offsets count from it */
    uint64_t fields;
    uint32_t head, length; /* head: its length; length: of head and tail */
    bool has_offset;
    char text[]; /* the tail right behind the head */
};

/* Where an address lies, and where to look for its text. */
struct pd_script_point {
    struct pd_point point;
    struct pd_span_text **near;
};

/* What is known of a coming sample's address: a point, a location, or neither. */
struct pd_script_ahead {
    struct pd_location *location;
    struct pd_script_point point; /* near is NULL: none */
};

struct pd_script_points {
    struct pd_span_text **near;  /* by object and address: a text of one close by, or NULL */
    struct pd_span_text **spans; /* all, by object and begin; open addressing */
    size_t mask, count;
    struct pd_arena arena; /* the texts */
    /* The points of the chain at hand; there is room for as many as a worker has frames. */
    struct pd_point *at;
    struct pd_span_text ***slots; /* in `near` */
    size_t capacity;
};

/* Texts that a worker made and may need again. */
struct pd_script_texts {
    struct pd_arena places; /* texts of locations; freed when the resolver drops its locations */
    PD_VEC(struct pd_insn_text) insns; /* by the location's index */
    /* The text of the lines that follow the first one: of a whole chain or of its part in user
     * space (chains), and of its part in the kernel. */
    struct pd_chain_memo chains, kernel_chains;
    struct pd_script_points points;
    /* the seconds printed last */
    uint64_t second;
    char second_text[24];
    unsigned second_length;
    struct pd_comm_text comms[PD_COMM_TEXTS];
    struct pd_head_text heads[PD_HEAD_TEXTS]; /* by CPU */
    struct pd_time_text time;
    struct pd_flag_text flags[64];
};

/* Names of guests. */
struct pd_script_guests {
    struct pd_map64 at; /* by pid: place in `names` */
    PD_VEC(const char *) names;
    struct pd_arena arena;
};

/* What the views of traces showed last, which later lines depend on. */
struct pd_script_traced {
    struct pd_map64 switches; /* --pt-events: by CPU, place in switch_texts */
    PD_VEC(struct pd_text) switch_texts;
    PD_VEC(struct pd_pt_line) lines; /* of the view of source lines, by the location's index */
    const char *file;                /* what that showed last; NULL: nothing */
    unsigned line;
    size_t call_column;           /* behind indented calls */
    struct pd_map64 graph_depths; /* by thread: depth of a graph function's entry + 1, 0 outside */
};

struct pd_script_worker {
    struct pd_script *script;
    struct pd_resolver *resolver;
    struct pd_text line; /* a place's text while it is made */
    struct pd_frame *frames;
    size_t frame_capacity;
    struct pd_time_gaps *gaps;       /* of the batch, sequential only */
    bool marks;                      /* each record is to leave a mark for in_order() */
    struct pd_code_reader *code;     /* NULL: no instructions are asked for */
    struct pd_script_source *source; /* NULL: srccode is not asked for */
    struct pd_script_stat *stat;     /* NULL: no recording of perf stat */
    struct pd_script_series *series; /* NULL: none was met */
    /* The location of the sample at hand where it was looked up ahead; else NULL. */
    struct pd_location *location;
    const struct pd_script_point *point;
    uint64_t samples, errors;
    bool failed;
    struct pd_script_guests guests;
    struct pd_script_traced traced;
    struct pd_sample synthesised;      /* what all samples made of a trace have in common */
    struct pd_synth_unpacked unpacked; /* of one of them */
    struct pd_script_texts texts;
};

PD_INLINE struct pd_head_text *pd_script_head(struct pd_script_worker *worker, uint32_t cpu)
{
    return &worker->texts.heads[cpu % PD_HEAD_TEXTS];
}

/* fields.c */
void pd_script_defaults(struct pd_script *script);
/* Takes one value of -F. */
perfdata_status pd_script_parse_fields(struct pd_script *script, const char *text);
/* Drops the fields that the recording lacks; refuses those that were asked for and are missing. */
perfdata_status pd_script_check_fields(struct pd_script *script);
/* Checks the fields of events that a trace has added since, then makes script->events. */
perfdata_status pd_script_plan_events(struct pd_script *script);
/* Whether some event shows indented calls. */
bool pd_script_shows_calls(const struct pd_script *script);

/* Whether the address of the event's samples is one of code, as far as perf looks it up. */
bool pd_script_address_is_code(const struct pd_event *event);

/* place.c */
/* " sym+0xoff (dso)", what follows an address; NULL when the system has no memory. */
const struct pd_place *pd_script_place(struct pd_script_worker *worker, uint64_t fields,
                                       struct pd_location *location);
/* Appends what follows an address, and what the options ask for behind that: the source line,
 * "(inlined)". */
void pd_script_place_text(struct pd_script *script, uint64_t fields,
                          const struct pd_location *location, struct pd_text *text);
/* The lines of a chain. */
void pd_script_chain(struct pd_script_worker *worker, const struct pd_script_event *plan,
                     const struct pd_sample *sample, const struct pd_delivered *record,
                     struct pd_text *text);
/* " name+0xoff" and " (dso)", as far as the fields ask for them. */
void pd_script_symbol(struct pd_script *script, uint64_t fields, const struct pd_location *location,
                      struct pd_text *text);
/* How far a location lies behind the start of its symbol, which it must have. */
uint64_t pd_script_offset(const struct pd_location *location);
/* Finds the location's source line; inside inlined functions, the line where the next one is
 * called. False: no memory. */
bool pd_script_find_line(struct pd_script *script, const struct pd_location *location,
                         uint64_t address, struct pd_source_line *line);
/* The frames of the sample's chain, as the options ask for them; NULL: no memory. */
const struct pd_frame *pd_script_frames(struct pd_script_worker *worker,
                                        const struct pd_sample *sample,
                                        const struct pd_delivered *record, size_t *count,
                                        bool *invalid);
/* "name+0xoff" or "[unknown]", and "(dso)"; the location may be NULL. */
void pd_script_name(const struct pd_location *location, bool offset, struct pd_text *text);
void pd_script_dso(struct pd_script *script, const struct pd_location *location, bool offset,
                   struct pd_text *text);
/* "\n  FILE:LINE"; nothing where there is no map. */
void pd_script_srcline(struct pd_script *script, const struct pd_location *location,
                       uint64_t address, struct pd_text *text);
/* The same with `before` in place of the line end and blanks. */
void pd_script_line_of(struct pd_script *script, const struct pd_location *location,
                       uint64_t address, const char *before, struct pd_text *text);
/* To be called when locations are dropped: forgets what was kept for them. */
void pd_script_forget(struct pd_script_worker *worker);

/* A line of a chain. */
PD_INLINE void pd_script_put_frame(const struct pd_place *place, uint64_t address,
                                   struct pd_text *text)
{
    char *to = pd_text_room(text, PD_ADDRESS_WIDTH + 2 + pd_block_room(place->length));
    if (PD_UNLIKELY(!to))
        return;
    *to = '\t';
    to = pd_put_block(pd_put_hex16(to + 1, address), place->text, place->length);
    *to = '\n';
    text->length += PD_ADDRESS_WIDTH + 2 + place->length;
}

/* points.c: frames by object and function, which hold when their processes are gone. */
/* Appends the lines of a chain. False: nothing was put, its frames have to be resolved. */
bool pd_script_put_points(struct pd_script_worker *worker, uint64_t fields,
                          const struct pd_delivered *record, uint8_t cpumode,
                          const struct pd_chain_entries *entries, struct pd_text *text);
/* The address of a coming sample that has no chain, in three steps that are some samples apart: it
 * is looked up, its text is fetched into the cache, and it is put. False: it has to be resolved. */
bool pd_script_point_ahead(struct pd_script_worker *worker, const struct pd_delivered *record,
                           uint64_t fields, uint64_t ip, struct pd_script_point *out);
void pd_script_point_fetch(const struct pd_script_point *point);
bool pd_script_put_point(struct pd_script_worker *worker, uint64_t fields,
                         const struct pd_script_point *point, uint64_t ip, struct pd_text *text);
void pd_script_points_forget(struct pd_script_worker *worker);
/* To be called between batches: bounds how much is kept. */
void pd_script_points_trim(struct pd_script_worker *worker);
void pd_script_points_free(struct pd_script_worker *worker);

/* ahead.c */
/* Looks up the address of a coming sample and fetches its text into the cache; NULL: there is no
 * address to look up. */
struct pd_location *pd_script_ahead(struct pd_script_worker *worker,
                                    const struct pd_delivered *record);
/* Looks up the point of a coming sample where that is enough, else its location. */
void pd_script_look_ahead(struct pd_script_worker *worker, const struct pd_delivered *record,
                          struct pd_script_ahead *out);

/* line.c */
void pd_script_sample(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text);
/* comm, pid, tid, cpu, misc, tod, time: what samples and other records begin with. */
struct pd_line_start {
    const char *comm;
    uint32_t pid, tid, cpu, type;
    uint16_t misc;
    uint64_t time;
    uint32_t vcpu, machine_pid; /* of a guest: its CPU + 1; 0: none is known */
};
/* Returns the end of what was written; behind it there is room for period and event, and the caller
 * then sets text->length. NULL: the system has no memory. */
char *pd_script_start(struct pd_script_worker *worker, const struct pd_script_event *plan,
                      const struct pd_line_start *start, struct pd_text *text);
/* More bytes than the start of a line and its period ever take. */
#define PD_START_ROOM 192

/* time.c: the date and time of day, at most 64 bytes. Returns the end of what was written. */
char *pd_script_put_day(const struct pd_script *script, char *to, uint64_t time);
/* Makes worker->texts.time the text of that time. */
void pd_script_make_time(struct pd_script_worker *worker, uint64_t time);

/* series.c: lines that differ from each other only in times and addresses. */
struct pd_script_series;
bool pd_script_has_series(const struct pd_script *script, const struct pd_script_event *plan);
bool pd_script_any_series(const struct pd_script *script);
/* Writes the lines of the first records and returns of how many. The caller makes the line of the
 * record behind them, and then calls pd_script_series_begin(). */
size_t pd_script_series_lines(struct pd_script_worker *worker, const struct pd_delivered *records,
                              size_t count, struct pd_text *text);
/* Writes the lines of packed samples from `at` on, as long as they follow each other in the
 * trace. */
size_t pd_script_series_packed(struct pd_script_worker *worker, const struct pd_synth_packs *packs,
                               size_t at, struct pd_text *text);
/* A record that has facts was written: a series may begin with it. */
void pd_script_series_begin(struct pd_script_worker *worker, const struct pd_delivered *record);
/* To be called when kept texts are dropped. */
void pd_script_series_forget(struct pd_script_worker *worker);
void pd_script_series_free(struct pd_script_worker *worker);

/* stat.c: recordings of perf stat, whose records must come in order. */
struct pd_script_stat;
struct pd_script_stat *pd_script_stat_new(void);
void pd_script_stat_free(struct pd_script_stat *stat);
/* Takes a record; false: it is none of perf stat's. */
bool pd_script_stat_record(struct pd_script_stat *stat, struct pd_recording *recording,
                           const struct pd_delivered *record, struct pd_text *text);

/* source.c: the text of source lines. A line is shown where it differs from its thread's last one,
 * so records must come in order. */
struct pd_script_source;
struct pd_script_source *pd_script_source_new(void);
void pd_script_source_free(struct pd_script_source *source);
/* A line of a file, without its end. */
struct pd_source_text {
    const char *text; /* NULL: the text is not available */
    size_t length;
};
/* `path` has to live as long as the symbols. False: no memory. */
bool pd_script_source_text(struct pd_script_source *source, const char *path, unsigned line,
                           struct pd_source_text *out);
void pd_script_source_put(struct pd_script_source *source, struct pd_script *script,
                          const struct pd_location *location, const struct pd_delivered *record,
                          struct pd_text *text);

/* itrace.c: what only samples made of a trace show. */
const struct pd_flag_text *pd_script_flag_text(struct pd_script_worker *worker, uint32_t flags);
/* Flags of a trace's step (PD_IP_...) by perf's names. */
void pd_trace_flags_text(uint32_t flags, struct pd_text *text);
void pd_script_flags(struct pd_script_worker *worker, const struct pd_delivered *record,
                     struct pd_text *text);
void pd_script_synth(const struct pd_sample *sample, struct pd_text *text);
/* Whether the sample is of a synthesised event and long enough for that event's values. */
bool pd_script_has_values(const struct pd_sample *sample);
/* These values without padding. */
void pd_script_values(const struct pd_sample *sample, struct pd_text *text);
/* The payload as text, when it is printable. */
void pd_script_letters(uint64_t payload, struct pd_text *text);
PD_INLINE uint32_t pd_script_word(const struct pd_sample *sample, size_t at)
{
    return pd_load32(sample->raw + at, sample->swap);
}
PD_INLINE uint64_t pd_script_wide(const struct pd_sample *sample, size_t at)
{
    return pd_load64(sample->raw + at, sample->swap);
}

/* pt_events.c: --pt-events */
/* The first line, or with `end` the last. */
void pd_script_pt_frame(const struct pd_script *script, bool end, struct pd_text *text);
void pd_script_pt_sample(struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text);
void pd_script_pt_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                         struct pd_text *text);
void pd_script_pt_free(struct pd_script_worker *worker);
void pd_script_ipc(const struct pd_delivered *record, struct pd_text *text);
/* Puts the call, indented by its depth; lines must come in order. */
void pd_script_call(struct pd_script_worker *worker, const struct pd_script_event *plan,
                    const struct pd_sample *sample, const struct pd_delivered *record,
                    struct pd_text *text);
/* --graph-function: whether the sample lies within one of these functions. Samples must come in
 * order. */
bool pd_script_graph(struct pd_script_worker *worker, const struct pd_script_event *plan,
                     const struct pd_sample *sample, const struct pd_delivered *record);

/* extra.c */
/* Names and values of the registers in `mask`. */
void pd_registers_text(const struct pd_recording *recording, uint64_t abi, uint64_t mask,
                       const uint8_t *registers, bool swap, struct pd_text *text);
void pd_script_data_source(struct pd_script_worker *worker, const struct pd_sample *sample,
                           struct pd_text *text);
/* iregs, uregs, branch stacks */
#define PD_EXTRA_AFTER_IP                                                                          \
    (PD_FIELD(IREGS) | PD_FIELD(UREGS) | PD_FIELD(BRSTACK) | PD_FIELD(BRSTACKSYM) |                \
     PD_FIELD(BRSTACKOFF) | PD_FIELD(BRCNTR))
void pd_script_after_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                        const struct pd_sample *sample, const struct pd_delivered *record,
                        struct pd_text *text);

/* insn.c: instructions. Once the session is open: */
perfdata_status pd_script_open_code(struct pd_script *script);
#define PD_INSN_OF_SAMPLE (PD_FIELD(INSN) | PD_FIELD(INSNLEN) | PD_FIELD(DISASM))
#define PD_INSN_OF_BRANCHES                                                                        \
    (PD_FIELD(BRSTACKINSN) | PD_FIELD(BRSTACKINSNLEN) | PD_FIELD(BRSTACKDISASM))
#define PD_INSN_FIELDS (PD_INSN_OF_SAMPLE | PD_INSN_OF_BRANCHES)
void pd_script_insn(struct pd_script_worker *worker, uint64_t fields,
                    const struct pd_branch_counters *counters, const struct pd_sample *sample,
                    const struct pd_delivered *record, struct pd_text *text);

/* The text of the instruction at worker->location is kept as long as that is. */
bool pd_script_keeps_insn(const struct pd_script_worker *worker, const struct pd_sample *sample,
                          const struct pd_delivered *record);

/* perf shows code only of recordings made on its own kind of machine. */
bool pd_script_is_native(const struct pd_recording *recording);

/* Where the code of samples' instructions comes from. */
struct pd_insn_reader {
    struct pd_code_reader *code;
    bool is_native, guests; /* code of guests' kernels is wanted */
};
struct pd_insn_bytes {
    uint64_t ip;
    bool is_64_bit;
    uint8_t bytes[PD_INSN_BUFFER];
};
/* Reads the sample's instruction; for a step of a trace, the last one that ran. Returns how many
 * bytes it has, 0: unknown. */
unsigned pd_script_read_insn(const struct pd_insn_reader *from, const struct pd_sample *sample,
                             const struct pd_delivered *record, struct pd_insn_bytes *out);

/* Copies the bytes of the sample's instruction to where there is room for PD_INSN_BUFFER of them.
 * Returns how many, 0: unknown. */
unsigned pd_script_fetch_insn(struct pd_script_worker *worker, const struct pd_sample *sample,
                              const struct pd_delivered *record, uint8_t *bytes);

/* The sample's instruction as field `disasm` shows it; nothing where it is unknown. */
void pd_script_disassemble(struct pd_script_worker *worker, const struct pd_sample *sample,
                           const struct pd_delivered *record, struct pd_text *text);

/* dlfilter.c: filters that the user loads, asked about one sample after the other. */
perfdata_status pd_dlfilter_open(struct pd_script *script);
/* Ends the filter after a run that ended with `status`; the filter may still fail. */
perfdata_status pd_dlfilter_close(struct pd_script *script, perfdata_status status);
/* Whether the filter is asked before samples are dropped by CPU and time. */
bool pd_dlfilter_is_early(const struct pd_script *script);
bool pd_dlfilter_drops(struct pd_script_worker *worker, const struct pd_script_event *plan,
                       const struct pd_sample *sample, const struct pd_delivered *record,
                       bool early, struct pd_text *text);
/* line.c, for dlfilter.c: the thread's name, and whether the lists of comms, tids, symbols... drop
 * the sample. */
const char *pd_script_comm(struct pd_script_worker *worker, const struct pd_sample *sample,
                           const struct pd_delivered *record);
bool pd_script_keeps(struct pd_script_worker *worker, const struct pd_sample *sample,
                     const struct pd_delivered *record);

/* records.c */
void pd_script_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text);

/* ordered.c */
/* Notes where the text of the record just put ends; false: no memory. */
bool pd_script_mark_end(struct pd_script_worker *worker, const struct pd_delivered *record,
                        const struct pd_text *text);
/* The consumer's function for text in order: fills in times that depend on those before, or gives
 * away the text of samples by event. */
perfdata_status pd_script_in_order(void *data, struct pd_batch *batch);
void pd_script_drop(void *data, struct pd_batch *batch);
/* For the front, where no lines are printed: counts samples whose time lies before that of the
 * sample before. */
int pd_script_check_order(struct pd_script *script, const struct pd_delivered *record);

#endif
