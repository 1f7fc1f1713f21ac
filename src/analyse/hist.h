/* SPDX-License-Identifier: MIT */
/* The layer analyse/: samples counted by sort keys. A worker fills its own `pd_hist`; the tables
 * are merged after the run, then expanded (children), collapsed, linked and sorted. Text is
 * export/'s.
 *
 * An entry's identity is a row of integers, one per sort key; texts are compared only once per
 * entry, at the end. Where perf keeps what the first sample brought, an entry keeps the least
 * delivery number with it, so nothing depends on which worker saw which sample. */
#ifndef PD_HIST_H
#define PD_HIST_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "resolve/resolve.h"

/* Sort keys, in perf's table order; then the numeric columns. */
enum pd_hist_key {
#define KEY(identifier, ...) PD_KEY_##identifier,
#include "analyse/keys.def"
    PD_KEY_FIELDS, /* fields of tracepoints that stand side by side in the list of keys */
    PD_KEY_FIELDS_LAST = PD_KEY_FIELDS + 3,
    PD_KEY_COUNT,
    PD_COLUMN_BEFORE = PD_KEY_COUNT - 1,
#define COLUMN(identifier, ...) PD_COLUMN_##identifier,
#include "analyse/keys.def"
    PD_COLUMN_COUNT
};

#define PD_HIST_NONE UINT32_MAX

/* A word of PD_KEY_FIELDS is the number of a text that holds, for each field, this and then the
 * field's bytes, its text and a NUL. */
struct pd_hist_field {
    uint32_t raw_length, text_length;
    uint32_t from_text; /* the value is a piece of the event's text */
};

/* The place of a key's index-th field among all of them. */
#define PD_HIST_FIELD_AT(key, index) ((uint32_t)((key)-PD_KEY_FIELDS) << 16 | (uint32_t)(index))

PD_INLINE bool pd_hist_is_fields(uint8_t key)
{
    return key >= PD_KEY_FIELDS && key <= PD_KEY_FIELDS_LAST;
}

/* Words of an entry's key: the event, then one per sort key; with options.keeps_log the branch
 * itself. */
#define PD_HIST_LOG_WORDS 3
#define PD_HIST_WORDS (1 + PD_KEY_COUNT + PD_HIST_LOG_WORDS)

/* What frames of chains must share to count as the same. */
enum pd_hist_frames { PD_FRAMES_BY_FUNCTION, PD_FRAMES_BY_ADDRESS, PD_FRAMES_BY_LINE };

struct pd_hist_options {
    uint8_t keys[PD_KEY_COUNT]; /* enum pd_hist_key, in the order of identity */
    unsigned key_count;
    bool use_chains;   /* entries get call chains        */
    bool children;     /* callees count for their callers */
    bool caller_order; /* chains from caller to callee   */
    bool hide_unresolved;
    bool long_names;      /* objects are told apart, and shown, by their long names */
    bool levels;          /* a tree of rows, a level for each key */
    uint8_t filters;      /* enum pd_hist_filter: those that are in force, for levels */
    bool keeps_visits;    /* perf may miss rows that it has: pd_hist.visits */
    bool keys_only;       /* entries have numbers, and nothing in `entries.data` */
    uint8_t frames;       /* enum pd_hist_frames */
    bool keeps_addresses; /* of frames, whatever makes them one */
    bool has_access;      /* entries are branches or accesses to memory */
    bool
        /* keys that tell "differs" but not which comes first: what perf joins depends on the
         * order */
        keeps_log;
};

/* The place of a key among the words of an entry's key, 0: none. */
PD_INLINE int pd_hist_key_at(const struct pd_hist_options *options, uint8_t key)
{
    for (unsigned k = 0; k < options->key_count; k++)
        if (options->keys[k] == key)
            return (int)k + 1;
    return 0;
}

/* The key word of an object: the same for two objects if perf does not tell them apart. */
PD_INLINE uint64_t pd_hist_dso_word(const struct pd_hist_options *options, const struct pd_dso *dso)
{
    return !dso ? PD_HIST_NONE : options->long_names ? dso->long_name_id : dso->short_name_id;
}

/* A symbol's identity: what the key word of PD_KEY_SYMBOL numbers. An address without a symbol that
 * needs more than 32 bits is its own word. */
struct pd_hist_sym {
    const struct pd_symbol *symbol; /* NULL: an unknown address */
    uint64_t start, end;            /* unknown: start is the address */
    uint32_t dso_name;              /* pd_hist_dso_word() */
};

/* A cgroup namespace: what PD_KEY_CGROUP_ID numbers, from 1; 0 is none. */
struct pd_hist_namespace {
    uint32_t device;
    uint64_t inode;
};

/* A name's identity: the text, or the object while it has its default name (its text may still
 * change). */
struct pd_hist_comm {
    const struct pd_comm *comm;
    bool own; /* the object is the identity */
};

/* One frame of a chain, as fine as children entries need it. */
struct pd_hist_frame {
    const struct pd_dso *dso;
    const struct pd_symbol *symbol;
    uint64_t ip; /* unknown: of the identity; known: the least seen */
    uint64_t
        place; /* in the DSO: start of the symbol, or of the unknown address; orders siblings */
    uint64_t map_size; /* 0 unless DSO sizes are asked for */
    uint64_t end;      /* of a branch: enum pd_chain_end_part; 0: none */
    bool kernel;       /* the map is a kernel map */
    bool has_map;
    bool is_data;      /* the symbol is no function */
    uint32_t sym;      /* pd_hist_sym of a children entry; PD_HIST_NONE: its address is its word */
    uint64_t map_bias; /* as of struct pd_hist_first */
    /* With options.keeps_addresses. */
    const struct pd_map *map;
    uint64_t addr;
    uint32_t line, file;   /* names of the keys SRCLINE and SRCFILE of a children entry */
    bool nested;           /* one of several functions there: */
    const char *call_file; /* where the next inner one is called in it */
    unsigned call_line;
    const char *text; /* its source line as chains show it; NULL: not */
    uint32_t rank;    /* among siblings; equal: the same function. Set by pd_chain_rank(). */
};

/* A stack as a list that shares its tails: the first frame and what follows. */
struct pd_hist_cell {
    uint32_t frame, next; /* next: PD_HIST_NONE at the end */
    uint32_t depth : 31;
    uint32_t has_unknown : 1; /* an address without a symbol is among its frames */
};

/* The filters that a sample does not pass, by what they are about; 0: it passes all. The last two
 * kinds are about rows, when these are collapsed: the processor socket of the row's first sample,
 * and a part of its symbol's name. */
enum pd_hist_filter {
    PD_FILTERED_THREAD = 1,
    PD_FILTERED_DSO = 2,
    PD_FILTERED_SYMBOL = 4,
    PD_FILTERED_OTHER = 8,
    PD_FILTERED_SOCKET = 16,
    PD_FILTERED_NAME = 32,
    /* those that are about samples */
    PD_FILTERED_SAMPLE = PD_FILTERED_THREAD | PD_FILTERED_DSO | PD_FILTERED_SYMBOL |
                         PD_FILTERED_OTHER
};

/* What perf takes from the first sample of an entry. */
struct pd_hist_first {
    uint64_t number;
    const struct pd_thread *thread;
    const struct pd_dso *dso; /* NULL: no map */
    const struct pd_symbol *symbol;
    uint64_t addr;
    uint64_t
        /* of the sample's map: start - pgoff, which perf adds to the start of data symbols */
        map_bias;
    uint64_t map_size;
    uint32_t position; /* in the sample's chain, 0 the sample itself */
    char level;
    uint8_t filtered; /* enum pd_hist_filter */
};

/* One end of a branch. */
struct pd_hist_place {
    const struct pd_dso *dso;
    const struct pd_map *map;
    const struct pd_symbol *symbol;
    const char *dso_name; /* as it is printed; set by pd_hist_collapse() */
    uint64_t ip, addr;    /* as recorded; what is looked up in the symbol table */
    uint64_t map_bias;    /* as in struct pd_hist_first */
    char level;
};

/* What an entry's first branch was; or its first access to memory, from code to data. */
struct pd_hist_access {
    struct pd_hist_place from, to;
    uint64_t flags; /* as a branch stack has them in a little-endian file; of memory: data_src */
};

/* A line of the data cache: the bytes that a word of PD_KEY_DCACHELINE numbers, without gaps. What
 * does not tell lines apart is 0. */
struct pd_hist_cache_line {
    uint64_t cpumode;
    uint64_t unmapped; /* 1: in no map */
    uint64_t maj, min, ino, ino_generation;
    int64_t pid;
    uint64_t address;
};

/* In perf's order of lines. */
int pd_hist_compare_cache_lines(const struct pd_hist_cache_line *a,
                                const struct pd_hist_cache_line *b);

/* The log: an entry's number and, above, the mode of the processor. */
#define PD_HIST_LOG_ENTRY ((UINT32_C(1) << 29) - 1)
#define PD_HIST_LOG_MODE 29

struct pd_hist_entry {
    uint64_t period, sys, user, guest_sys, guest_user, count;
    uint64_t children_period, children_count;
    uint64_t latency; /* the wall-clock share of the periods; 0: not counted */
    struct pd_hist_first first;
    uint32_t max_depth; /* of its chains */
    uint32_t
        base; /* number of the key without what comes from the address; set by pd_hist_expand() */
};

/* Samples of one entry with one stack. */
struct pd_hist_pair {
    uint32_t entry, cell;
    uint64_t period, count;
    uint64_t number, last; /* of its samples: the least, and the greatest */
    const struct pd_thread *thread;
    char level;
    uint8_t filtered; /* enum pd_hist_filter */
    bool borrowed;    /* the stack is another sample's: the sample itself has no chain */
};

/* A sample with an address without a symbol in its stack. */
struct pd_hist_visit {
    uint64_t number;
    const struct pd_thread *thread;
    uint32_t pair;
    char level;
};

struct pd_hist {
    struct pd_hist_options options;
    unsigned words; /* of a key */
    PD_VEC(struct pd_hist_sym) syms;
    PD_VEC(struct pd_hist_frame) frames;
    PD_VEC(struct pd_hist_cell) cells;
    PD_VEC(struct pd_hist_comm) comms;
    PD_VEC(struct pd_hist_entry) entries;
    PD_VEC(struct pd_hist_access) accesses; /* per entry, with options.has_access */
    PD_VEC(uint32_t) log;                   /* with options.keeps_log: every sample in turn */
    PD_VEC(uint64_t) keys;                  /* `words` per entry */
    PD_VEC(struct pd_hist_pair) pairs;
    PD_VEC(struct pd_hist_visit) visits; /* with options.keeps_visits, in no order */
    PD_VEC(struct pd_hist_namespace) namespaces;
    struct pd_intern namespace_keys;                 /* device and inode -> place in `namespaces` */
    struct pd_intern names;                          /* comm texts, parents, payloads */
    uint32_t *entry_slots, *sym_slots, *frame_slots; /* id + 1, open addressing */
    size_t entry_mask, sym_mask, frame_mask;
    struct pd_map64 cell_map;
    struct {
        PD_VEC(uint32_t) first;  /* per entry: its first pair + 1 */
        struct pd_map64 further; /* (entry, cell) -> pair */
    } pair_of;
    struct pd_map64 child_map;      /* (base, frame) -> entry; made by pd_hist_expand() */
    PD_VEC(uint32_t) comm_of_index; /* pd_comm.index * 2 + own -> comm id + 1 */
    PD_VEC(uint32_t) comm_of_name;  /* name id -> comm id + 1 */
    bool has_cycles;                /* a branch to a known function told how long it took */
    bool has_inlined;               /* frames are told by names; set by pd_chain_rank() */
    bool has_ends;                  /* frames are ends of branches; set by pd_chain_rank() */
    bool failed;                    /* the system had no memory */
};

void pd_hist_init(struct pd_hist *hist, const struct pd_hist_options *options);
/* The same of a table that only numbers keys. */
void pd_hist_init_keys(struct pd_hist *hist, const struct pd_hist_options *options);
void pd_hist_free(struct pd_hist *hist);

/* ---- while samples come; each returns PD_HIST_NONE and sets `failed` without memory ---- */

uint32_t pd_hist_comm_id(struct pd_hist *hist, const struct pd_comm *comm, uint64_t number);
uint32_t pd_hist_name_id(struct pd_hist *hist, const char *text);
uint32_t pd_hist_bytes_id(struct pd_hist *hist, const char *bytes, size_t length);
uint32_t pd_hist_namespace_id(struct pd_hist *hist, uint32_t device, uint64_t inode);
/* The word of a key of symbols; `addr` counts only without a symbol. */
uint64_t pd_hist_sym_word(struct pd_hist *hist, const struct pd_dso *dso,
                          const struct pd_symbol *symbol, uint64_t addr);
uint32_t pd_hist_frame_id(struct pd_hist *hist, const struct pd_hist_frame *frame);
uint32_t pd_hist_cell_id(struct pd_hist *hist, uint32_t frame, uint32_t next);
/* The entry with these key words. A new one has first.number UINT64_MAX. */
uint32_t pd_hist_entry_id(struct pd_hist *hist, const uint64_t *key);
/* The same in two steps, so that for several keys the processor can wait for memory at once: of
 * PD_HIST_READ_MAX keys at most, what looking them up will need is read. */
enum { PD_HIST_READ_MAX = 32 };
uint64_t pd_hist_key_hash(const struct pd_hist *hist, const uint64_t *key);
void pd_hist_read_entries(const struct pd_hist *hist, const uint64_t *hashes, size_t count);
uint32_t pd_hist_entry_by_hash(struct pd_hist *hist, const uint64_t *key, uint64_t hash);
/* Room at once for so many entries in a table that has none. False without memory. */
bool pd_hist_reserve(struct pd_hist *hist, size_t entries);
/* Keeps what an entry's first sample accessed. False without memory. */
bool pd_hist_keep_access(struct pd_hist *hist, uint32_t entry, const struct pd_hist_access *access);
/* Counts a branch, whose period is one. False without memory. */
bool pd_hist_count_access(struct pd_hist *hist, uint32_t entry, uint8_t cpumode,
                          const struct pd_hist_first *first, const struct pd_hist_access *access);
struct pd_hist_pair *pd_hist_pair_at(struct pd_hist *hist, uint32_t entry, uint32_t cell);

/* True when (number, position) comes before what `first` holds. */
PD_INLINE bool pd_hist_is_first(const struct pd_hist_first *first, uint64_t number,
                                uint32_t position)
{
    return number < first->number || (number == first->number && position < first->position);
}

/* The level of an entry of a frame, whose caller or callee before it has the given one. */
PD_INLINE char pd_hist_frame_level(const struct pd_hist_frame *frame, char level)
{
    bool guest = level == 'g' || level == 'u';
    if (!frame->has_map)
        return level;
    return guest ? (frame->kernel ? 'g' : 'u') : (frame->kernel ? 'k' : '.');
}

/* With options.has_access. */
PD_INLINE const struct pd_hist_access *pd_hist_access_of(const struct pd_hist *hist,
                                                         const struct pd_hist_entry *entry)
{
    return &hist->accesses.data[entry - hist->entries.data];
}

PD_INLINE const uint64_t *pd_hist_key_of(const struct pd_hist *hist, uint32_t entry)
{
    return hist->keys.data + (size_t)entry * hist->words;
}

/* ---- after the run ---- */

/* Frees what only the functions above need; none of them may be called afterwards, except for
 * entries. */
void pd_hist_settle(struct pd_hist *hist);
/* The same for entries: none may be looked up or added afterwards. */
void pd_hist_forget_entries(struct pd_hist *hist);

/* Adds all of `from`, whose ids become those of `into`. */
perfdata_status pd_hist_merge(struct pd_hist *into, const struct pd_hist *from);
/* Children mode: an entry for each function of each stack. */
perfdata_status pd_hist_expand(struct pd_hist *hist);

/* The stack of one pair, function by function: which entry each counts for. Children mode, after
 * pd_hist_expand(). */
struct pd_hist_climb {
    PD_VEC(uint32_t) seen; /* per entry: the last pair (+ 1) that counted for it */
    const bool *frames;    /* per frame: whether to call for its cells; NULL: for all */
};
/* Calls `each` for each cell of the pair whose entry has not yet been counted, the sample itself
 * (whole stack) first, if the stack is its own. */
perfdata_status
pd_hist_climb(const struct pd_hist *hist, struct pd_hist_climb *climb, uint32_t pair,
              void (*each)(void *data, uint32_t pair, uint32_t entry, uint32_t cell), void *data);

/* One row of the result: an entry after collapsing. */
struct pd_hist_row {
    const struct pd_hist_entry
        *entry;     /* of the first of the collapsed ones, sums are the row's own */
    uint32_t index; /* in `all` */
    uint64_t period, sys, user, guest_sys, guest_user, count, children_period, children_count;
    uint64_t latency;
    uint32_t max_depth;
    uint32_t event;
    uint8_t filtered;                /* enum pd_hist_filter */
    const char *comm, *dso, *parent; /* the texts of the keys, NULL when the key is not asked for */
    const char *symbol;              /* NULL: unknown */
    const char *trace;               /* NULL: no tracepoint's */
    const char *line, *file;         /* of its source */
    uint8_t met;                     /* texts that perf has compared before it measured the row */
    uint32_t fields_met; /* how far it has compared its fields: PD_HIST_FIELD_AT() + 1 */
    uint64_t addr;
    struct pd_hist_row *
        *members; /* rows of the group's other events by position - 1; NULL: no group */
};

enum {
    PD_MET_TRACE = 1,
    PD_MET_LINE = 2,
    PD_MET_FILE = 4,
    PD_MET_LINE_FROM = 8,
    PD_MET_LINE_TO = 16,
    PD_MET_ALL = 31
};

PD_INLINE uint64_t pd_hist_row_value(const struct pd_hist_row *row, uint8_t column)
{
    switch (column) {
/* clang-format off */
#define COLUMN(identifier, name, title, width, member)                                             \
    case PD_COLUMN_##identifier: return row->member;
        /* clang-format on */
#include "analyse/keys.def"
    default: return row->period;
    }
}

/* A row of the tree of rows. */
struct pd_hist_level {
    struct pd_hist_row *row;
    uint32_t depth;
};

/* Rows of one event with its sums. */
struct pd_hist_event {
    PD_VEC(struct pd_hist_level) levels; /* with options.levels: from the top down */
    PD_VEC(struct pd_hist_row *) rows;
    uint32_t *log; /* its part of the log, in turn */
    size_t log_count;
    uint64_t count, count_unfiltered; /* samples */
    uint64_t period, period_unfiltered;
    uint64_t chain_period, chain_period_unfiltered;
    uint64_t latency, latency_unfiltered;
};

struct pd_hist_result {
    struct pd_arena arena;
    struct pd_hist_event *events;
    size_t event_count;
    uint32_t *row_of_entry;           /* entry id -> index of its row in `all` */
    PD_VEC(struct pd_hist_row *) all; /* rows with an entry, those of pd_hist_link() behind */
    const struct pd_hist *identities; /* whose entries are the rows' keys: what was counted, or: */
    struct pd_hist joined;            /* keys with final comms, where rows are not the entries */
    size_t row_count_with_entry;      /* of `all`; the rest came by pd_hist_link() */
};

/* Collapses by final texts; no entries can be added to `hist` afterwards. `symbols` gives the
 * printed names of DSOs. Rows of the first event whose symbol's name does not contain
 * `symbol_filter` (NULL: none) are filtered, if there is a column of comms or a tree of rows. */
perfdata_status pd_hist_collapse(struct pd_hist *hist, size_t event_count,
                                 struct pd_symbols *symbols, const char *symbol_filter,
                                 struct pd_hist_result *out);
/* Joins the rows of `count` events to those of the first, by identity. */
perfdata_status pd_hist_link(struct pd_hist_result *result, const uint32_t *events, size_t count);
/* Sorts the rows of an event; `order` lists keys and columns, each an enum pd_hist_key; of a
 * group's values that of the member `group_sort` counts first; where there is none, the leader's
 * alone. */
perfdata_status pd_hist_sort(const struct pd_hist *hist, struct pd_hist_result *result,
                             struct pd_hist_event *event, const uint8_t *order, size_t order_count,
                             size_t group_size, size_t group_sort);
/* The row's word of a key, 0 when it is none of the sort keys. */
uint64_t pd_hist_row_word(const struct pd_hist_result *result, const struct pd_hist_row *row,
                          uint8_t key);
void pd_hist_result_free(struct pd_hist_result *result);

/* A sample of an entry or row: `much` counts for all and for the processor's mode. */
#define PD_HIST_COUNT(to, cpumode, much)                                                           \
    do {                                                                                           \
        (to)->period += (much);                                                                    \
        (to)->count++;                                                                             \
        switch (cpumode) {                                                                         \
        case PD_CPUMODE_KERNEL: (to)->sys += (much); break;                                        \
        case PD_CPUMODE_USER: (to)->user += (much); break;                                         \
        case PD_CPUMODE_GUEST_KERNEL: (to)->guest_sys += (much); break;                            \
        case PD_CPUMODE_GUEST_USER: (to)->guest_user += (much); break;                             \
        default: break;                                                                            \
        }                                                                                          \
    } while (0)

/* What entries and rows count alike. */
#define PD_HIST_ADD(to, from)                                                                      \
    ((to)->period += (from)->period, (to)->sys += (from)->sys, (to)->user += (from)->user,         \
     (to)->guest_sys += (from)->guest_sys, (to)->guest_user += (from)->guest_user,                 \
     (to)->count += (from)->count, (to)->latency += (from)->latency)

#endif
