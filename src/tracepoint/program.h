/* SPDX-License-Identifier: MIT */
/* A print format as a flat program: made by compile.c, run by run.c. Internal to tracepoint/. */
#ifndef PD_TRACEPOINT_PROGRAM_H
#define PD_TRACEPOINT_PROGRAM_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "tracepoint/tracepoint.h"
#include <event-parse.h>

/* Numbers: a stack machine. */
enum pd_trace_opcode {
    OP_CONSTANT,      /* push value */
    OP_FIELD,         /* push the number at offset, size bytes */
    OP_DYNAMIC_START, /* push where the dynamic field's bytes begin in the payload */
    OP_DYNAMIC_LENGTH,
    OP_LOAD,         /* pop place, push the number there, size bytes */
    OP_CAST,         /* to size bytes, signed if value */
    OP_JUMP_IF_ZERO, /* pop; to value */
    OP_JUMP,
    OP_NOT,
    OP_COMPLEMENT,
    OP_NEGATE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHL,
    OP_SHR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_LAND,
    OP_LOR,
    OP_END
};

struct pd_trace_op {
    uint8_t code, size;
    bool relative;
    uint32_t offset;
    uint64_t value;
};

enum { PD_TRACE_STACK = 64, PD_TRACE_DEPTH = 48 };

struct pd_trace_names {
    uint64_t value; /* all ones: a name that is no number */
    const char *text;
    uint32_t length;
};

enum pd_trace_string_kind {
    STRING_LITERAL,
    STRING_FIELD,   /* bytes at offset, size at most (0: the rest) */
    STRING_POINTER, /* an address of a printk format, or the number */
    STRING_DYNAMIC, /* through the __data_loc word at offset */
    STRING_FLAGS,
    STRING_SYMBOL,
    STRING_TERNARY
};

struct pd_trace_string {
    enum pd_trace_string_kind kind;
    uint32_t offset, size;
    bool relative;
    const char *text; /* literal, or the delimiter */
    uint32_t length;
    uint32_t program; /* of the number */
    const struct pd_trace_names *names;
    uint32_t name_count;
    const struct pd_trace_string *yes, *no;
};

enum pd_trace_piece_kind {
    PIECE_LITERAL,
    PIECE_NUMBER,
    PIECE_POINTER,
    PIECE_FUNCTION,
    PIECE_STRING
};

/* One conversion of the format, or the literal text between two. */
struct pd_trace_piece {
    enum pd_trace_piece_kind kind;
    char conversion;       /* d u x X o */
    int8_t length;         /* -2 char ... 2 long long */
    bool zero, left, hash; /* flags */
    bool plain;            /* nothing that our own appenders cannot do */
    bool quick;            /* literal, or a number without flags and width */
    bool offset;           /* %pS, %pF: with +0xoff */
    uint16_t width;
    int32_t precision;        /* -1 none */
    bool precision_is_number; /* '*': `star` says it */
    uint32_t star, program;
    const char *text; /* literal, or the conversion for printf */
    uint32_t text_length;
    const struct pd_trace_string *string;
};

struct pd_trace_format {
    struct pd_tracing *tracing;
    struct tep_event *event;
    bool compiled;
    PD_VEC(struct pd_trace_op) ops;
    PD_VEC(struct pd_trace_piece) pieces;
    size_t quick_room; /* bytes that all quick pieces take at most */
    PD_VEC(struct pd_trace_field) fields;
    /* what libtraceevent divides by while it prints; NULL: not a single field */
    PD_VEC(const struct pd_trace_field *) divisors;
};

struct pd_tracing {
    struct pd_context *context;
    struct tep_handle *tep;
    struct pd_arena arena;
    bool big_endian, swap;
    uint8_t long_size;
    PD_VEC(struct pd_trace_format *) formats;
    struct pd_map64 by_id; /* number of the first one in `formats` */
    pthread_mutex_t lock;  /* libtraceevent's printing is for one thread at a time */
    const struct pd_trace_resolver *resolver; /* of the thread that holds the lock */
    PD_VEC(struct pd_trace_names) printks;    /* address -> text */
    PD_VEC(struct pd_trace_text) texts;
    bool damaged, complete, no_memory;
    struct pd_trace_text kallsyms, comms; /* as read; no text: there are none */
};

/* Fills ops and pieces; false when the format has something that only libtraceevent knows. */
bool pd_trace_compile(struct pd_trace_format *format);

/* Finds what a format divides by that only libtraceevent prints. False: no memory. */
bool pd_trace_find_divisors(struct pd_trace_format *format);
/* Whether printing the payload may divide by zero, on which libtraceevent dies. */
bool pd_trace_divides_by_zero(const struct pd_trace_format *format, const uint8_t *data,
                              size_t size);

#endif
