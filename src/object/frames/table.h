/* SPDX-License-Identifier: MIT */
/* What the files of call frame information share. */
#ifndef PD_FRAME_TABLE_H
#define PD_FRAME_TABLE_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "object/elf/file.h"
#include "object/frames/bytes.h"
#include "object/frames/rules.h"
#include <pthread.h>

/* ---- rules ---- */

enum pd_rule_kind {
    PD_RULE_NONE, /* nothing is said */
    PD_RULE_KEPT,
    PD_RULE_GONE,
    PD_RULE_AT,         /* it lies at the CFA + offset */
    PD_RULE_SUM,        /* it is that sum; of the CFA: a register's value + offset */
    PD_RULE_REGISTER,   /* it is in another register */
    PD_RULE_EXPRESSION, /* it lies where the expression says */
    PD_RULE_VALUE       /* it is what the expression says */
};

struct pd_rule {
    uint8_t kind;
    uint8_t about;  /* the register that it is about */
    uint16_t other; /* the register that it leads to */
    uint32_t size;  /* of the expression */
    union {
        int64_t offset;
        const uint8_t *expression; /* in the section */
    } to;
};

struct pd_frame_step {
    enum pd_unwind_result fails; /* PD_UNWIND_STEPPED: there are rules */
    bool is_signal, is_signed;   /* the return address is under a signature (arm64) */
    bool swap;                   /* of numbers in expressions */
    bool is_plain; /* all saved registers lie at the CFA, from `least` to `greatest`; mostly so */
    uint8_t count;
    int64_t least, greatest;
    uint64_t mask;            /* a bit for each of `saved` */
    struct pd_rule cfa, back; /* of the return address; `about` is its register */
    struct pd_rule saved[];   /* of registers that are not where they were */
};

/* ---- sections ---- */

/* Where a function's entry lies. */
struct pd_frame_place {
    uint64_t start, end; /* [start, end): addresses of code */
    uint64_t entry;      /* in the section */
};

/* What entries share (a CIE). */
struct pd_frame_common {
    struct pd_frame_bytes program;
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t encoding; /* of addresses */
    uint8_t address_size;
    uint16_t back; /* the return address's register */
    bool is_sized; /* entries have data of their own */
    bool is_signal;
};

/* .eh_frame or .debug_frame. */
struct pd_frame_section {
    const uint8_t *bytes; /* NULL: there is none */
    size_t size;
    uint64_t address; /* that its first byte is loaded at */
    uint8_t word;     /* bytes of an address */
    bool swap;
    bool is_debug; /* .debug_frame */
    /* The linker's sorted table of functions (.eh_frame_hdr); NULL: there is none */
    const uint8_t *table;
    size_t table_count;
    uint64_t table_address;
    bool is_listed;
    PD_VEC(struct pd_frame_place) places; /* else: by start, once listed */
    struct pd_map64 steps_of;             /* an address where a step begins -> its place */
    PD_VEC(const struct pd_frame_step *) steps;
};

/* A function's entry (an FDE). */
struct pd_frame_entry {
    uint64_t start, end;
    struct pd_frame_common common;
    struct pd_frame_bytes program;
};

struct pd_frame_rules {
    pthread_mutex_t lock; /* entries are read as they are asked for */
    struct pd_elf elf;
    bool is_open;
    void *image; /* the file's bytes, if it has no path */
    uint16_t machine;
    struct pd_frame_section eh, debug;
    struct pd_arena arena; /* steps */
    /* What was asked for before, by address: each thread asks anew. */
    struct pd_map64 known;
    PD_VEC(const struct pd_frame_step *) answers;
};

/* entries.c */

/* Finds the sections of an open file. */
void pd_frame_sections_find(struct pd_frame_rules *rules);
void pd_frame_section_free(struct pd_frame_section *section);
/* The entry of the function that holds an address; false: none. */
bool pd_frame_entry_find(struct pd_frame_section *section, uint64_t address,
                         struct pd_frame_entry *out);

/* The bytes of an entry behind its length, and the size that numbers of places have in it. */
struct pd_frame_chunk {
    struct pd_frame_bytes bytes;
    uint64_t next; /* the entry behind it */
    uint64_t id_place, id;
    bool is_wide;
};

/* False at the end of the section, and where it is damaged. */
bool pd_frame_chunk_read(const struct pd_frame_section *section, uint64_t at,
                         struct pd_frame_chunk *out);
/* Where the entry of the function that holds an address lies, and what it shares with others. */
bool pd_frame_entry_chunks(struct pd_frame_section *section, uint64_t address, uint64_t *at,
                           uint64_t *common_at, struct pd_frame_common *common);

/* program.c */

/* The step at an address of the entry, and where it begins to hold. NULL: its program is damaged,
 * or no memory. */
const struct pd_frame_step *pd_frame_program_run(struct pd_frame_rules *rules,
                                                 struct pd_frame_section *section,
                                                 const struct pd_frame_entry *entry,
                                                 uint64_t address);

#endif
