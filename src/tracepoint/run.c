/* SPDX-License-Identifier: MIT */
/* Runs a compiled print format over a payload. */
#include "base/digits.h"
#include "tracepoint/program.h"
#include <errno.h>
#include <stdio.h>

struct payload {
    const struct pd_trace_format *format;
    const uint8_t *data;
    size_t size;
    bool swap;
};

PD_INLINE uint64_t load(const struct payload *p, uint64_t at, unsigned size)
{
    if (!pd_range_ok(at, size, p->size))
        return 0;
    switch (size) {
    case 1: return p->data[at];
    case 2: return pd_load16(p->data + at, p->swap);
    case 4: return pd_load32(p->data + at, p->swap);
    default: return pd_load64(p->data + at, p->swap);
    }
}

static uint64_t cast(uint64_t value, unsigned size, bool is_signed)
{
    unsigned shift = 64 - 8 * size;
    return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

static uint64_t binary(uint8_t code, uint64_t a, uint64_t b)
{
    switch (code) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return b ? a / b : 0;
    case OP_MOD: return b ? a % b : 0;
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_SHL: return b < 64 ? a << b : 0;
    case OP_SHR: return b < 64 ? a >> b : 0;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_LAND: return a && b;
    default: return a || b;
    }
}

/* NOLINTBEGIN: no compiled program takes more from the stack than it has put there */
static uint64_t run(const struct payload *p, uint32_t program)
{
    const struct pd_trace_op *ops = p->format->ops.data, *op = &ops[program];
    if (op->code == OP_FIELD && op[1].code == OP_END) /* most are no more than that */
        return load(p, op->offset, op->size);
    uint64_t stack[PD_TRACE_STACK];
    unsigned top = 0; /* the compiler's depth limit keeps it below PD_TRACE_STACK */
    for (;; op++) {
        switch (op->code) {
        case OP_CONSTANT: stack[top++] = op->value; break;
        case OP_FIELD: stack[top++] = load(p, op->offset, op->size); break;
        case OP_DYNAMIC_START: stack[top++] = load(p, op->offset, 4) & 0xffff; break;
        case OP_DYNAMIC_LENGTH: stack[top++] = load(p, op->offset, 4) >> 16; break;
        case OP_LOAD: stack[top - 1] = load(p, stack[top - 1], op->size); break;
        case OP_CAST: stack[top - 1] = cast(stack[top - 1], op->size, op->value); break;
        case OP_JUMP_IF_ZERO:
            if (!stack[--top])
                op = &ops[op->value] - 1;
            break;
        case OP_JUMP: op = &ops[op->value] - 1; break;
        case OP_NOT: stack[top - 1] = !stack[top - 1]; break;
        case OP_COMPLEMENT: stack[top - 1] = ~stack[top - 1]; break;
        case OP_NEGATE: stack[top - 1] = 0 - stack[top - 1]; break;
        case OP_END: return stack[0];
        default: top--; stack[top - 1] = binary(op->code, stack[top - 1], stack[top]);
        }
    }
}
/* NOLINTEND */

PD_INLINE uint64_t number_of(const struct payload *p, const struct pd_trace_piece *piece)
{
    uint64_t value = run(p, piece->program);
    bool is_signed = piece->conversion == 'd';
    if (piece->length <= 0)
        return cast(value, piece->length == 0 ? 4 : piece->length == -1 ? 2 : 1, is_signed);
    if (piece->length == 1 && p->format->tracing->long_size == 4)
        return cast(value, 4, is_signed); /* the recording's long, not the reader's */
    return value;
}

/* The quick pieces from `piece` on, in the room that was made for all of the format. */
static const struct pd_trace_piece *put_quick(const struct payload *p,
                                              const struct pd_trace_piece *piece,
                                              const struct pd_trace_piece *end, struct pd_text *out)
{
    char *to = out->data + out->length;
    for (; piece < end && piece->quick; piece++) {
        if (piece->kind == PIECE_LITERAL) {
            to = pd_put_short(to, piece->text, piece->text_length);
            continue;
        }
        uint64_t value = number_of(p, piece);
        if (piece->conversion == 'x') {
            to = pd_put_hex(to, value);
        } else if (piece->conversion == 'd' && (int64_t)value < 0) {
            *to = '-';
            to = pd_put_u64(to + 1, 0 - value);
        } else {
            to = pd_put_u64(to, value);
        }
    }
    out->length = (size_t)(to - out->data);
    return piece;
}

static void put_number(const struct payload *p, const struct pd_trace_piece *piece,
                       struct pd_text *out)
{
    uint64_t value = number_of(p, piece);
    bool is_signed = piece->conversion == 'd';
    if (!piece->plain || piece->conversion == 'X' ||
        (is_signed && piece->zero && (int64_t)value < 0)) {
        char spec[64], text[4200];
        size_t head = piece->text_length - 1,
               used = 0; /* rebuilt with ll: `value` is 64 bits wide */
        for (size_t i = 0; i < head && used < sizeof spec - 4; i++)
            if (!strchr("hlLzZ", piece->text[i]))
                spec[used++] = piece->text[i];
        memcpy(spec + used, "ll", 2);
        spec[used + 2] = piece->conversion;
        spec[used + 3] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int length = snprintf(text, sizeof text, spec, (unsigned long long)value);
#pragma GCC diagnostic pop
        pd_text_bytes(out, text, length < 0 ? 0 : PD_MIN((size_t)length, sizeof text - 1));
        return;
    }
    size_t before = out->length;
    char pad = piece->zero ? '0' : ' ';
    unsigned width = piece->left ? 0 : piece->width;
    if (is_signed && (int64_t)value < 0)
        pd_text_i64(out, (int64_t)value, width);
    else if (piece->conversion == 'x' && piece->hash)
        pd_text_hex_prefixed(out, value);
    else if (piece->conversion == 'x')
        pd_text_hex(out, value, width, pad);
    else
        pd_text_u64(out, value, width, pad);
    if (piece->left)
        pd_text_pad(out, before, piece->width);
}

/* %*.*s of at most `length` bytes up to a NUL */
static void put_text(const struct pd_trace_piece *piece, int64_t precision, const char *text,
                     size_t length, struct pd_text *out)
{
    if (precision >= 0 && (uint64_t)precision < length)
        length = (size_t)precision;
    length = strnlen(text, length);
    if (piece->left)
        pd_text_left(out, text, length, piece->width);
    else
        pd_text_right(out, text, length, piece->width);
}

static void put_hex_rest(uint64_t value, struct pd_text *out)
{
    pd_text_bytes(out, "0x", 2);
    pd_text_hex(out, value, 0, ' ');
}

static void put_flags(const struct payload *p, const struct pd_trace_piece *piece,
                      int64_t precision, const struct pd_trace_string *s, struct pd_text *out)
{
    uint64_t value = run(p, s->program);
    bool any = false;
    for (uint32_t i = 0; i < s->name_count; i++) {
        const struct pd_trace_names *name = &s->names[i];
        if (!value && (int64_t)name->value < 0) { /* a name without a number stands for none */
            put_text(piece, precision, name->text, name->length, out);
            return;
        }
        if ((int64_t)name->value > 0 && (value & name->value) == name->value) {
            if (any)
                put_text(piece, precision, s->text, s->length, out);
            put_text(piece, precision, name->text, name->length, out);
            any = true;
            value &= ~name->value;
        }
    }
    if (value) {
        if (any)
            pd_text_bytes(out, s->text, s->length);
        put_hex_rest(value, out);
    }
}

static void put_symbol(const struct payload *p, const struct pd_trace_piece *piece,
                       int64_t precision, const struct pd_trace_string *s, struct pd_text *out)
{
    uint64_t value = run(p, s->program);
    for (uint32_t i = 0; i < s->name_count; i++) {
        if (value == s->names[i].value) {
            put_text(piece, precision, s->names[i].text, s->names[i].length, out);
            return;
        }
    }
    put_hex_rest(value, out);
}

static void put_pointer_string(const struct payload *p, const struct pd_trace_string *s,
                               struct pd_text *out)
{
    const struct pd_tracing *tracing = p->format->tracing;
    uint64_t address = load(p, s->offset, s->size);
    for (size_t i = 0; i < tracing->printks.count; i++) {
        if (tracing->printks.data[i].value == address) {
            pd_text_bytes(out, tracing->printks.data[i].text, tracing->printks.data[i].length);
            return;
        }
    }
    pd_text_hex(out, address, 0, ' ');
}

static void put_string(const struct payload *p, const struct pd_trace_piece *piece,
                       struct pd_text *out)
{
    const struct pd_trace_string *s = piece->string;
    int64_t precision = piece->precision_is_number ? (int32_t)run(p, piece->star)
                                                   : piece->precision;
    while (s->kind == STRING_TERNARY)
        s = run(p, s->program) ? s->yes : s->no;
    uint64_t at, length;
    switch (s->kind) {
    case STRING_LITERAL: put_text(piece, precision, s->text, s->length, out); break;
    case STRING_FIELD:
        length = s->offset > p->size ? 0 : p->size - s->offset;
        if (s->size && s->size < length)
            length = s->size;
        put_text(piece, precision, length ? (const char *)p->data + s->offset : "", length, out);
        break;
    case STRING_DYNAMIC:
        at = load(p, s->offset, 4) & 0xffff;
        if (s->relative)
            at += s->offset + 4;
        length = at > p->size ? 0 : p->size - at;
        put_text(piece, precision, length ? (const char *)p->data + at : "", length, out);
        break;
    case STRING_POINTER: put_pointer_string(p, s, out); break;
    case STRING_FLAGS: put_flags(p, piece, precision, s, out); break;
    case STRING_SYMBOL: put_symbol(p, piece, precision, s, out); break;
    case STRING_TERNARY: break;
    }
}

static void put_function(const struct payload *p, const struct pd_trace_piece *piece,
                         const struct pd_trace_resolver *resolver, struct pd_text *out)
{
    uint64_t address = run(p, piece->program), start = 0;
    const char *name = resolver ? resolver->resolve(resolver->data, address, &start) : NULL;
    if (!name) {
        put_hex_rest(address, out);
        return;
    }
    pd_text_string(out, name);
    if (piece->offset) {
        pd_text_bytes(out, "+0x", 3);
        pd_text_hex(out, address - start, 0, ' ');
    }
}

static void put_pointer(uint64_t value, struct pd_text *out)
{
    if (value)
        put_hex_rest(value, out);
    else
        pd_text_bytes(out, "(nil)", 5);
}

static void print_by_library(const struct pd_trace_format *format,
                             const struct pd_trace_resolver *resolver, const uint8_t *data,
                             size_t size, struct pd_text *out)
{
    struct pd_tracing *tracing = format->tracing;
    const struct pd_trace_field *type = pd_trace_field(format, "common_type");
    uint64_t id;
    /* the library looks the event up by the payload, and would trust another one's offsets */
    if (!type || !pd_trace_number(format, type, data, size, &id) ||
        id != (uint64_t)format->event->id) {
        pd_text_string(out, "[UNKNOWN EVENT]");
        return;
    }
    if (pd_trace_divides_by_zero(format, data, size)) {
        pd_text_string(out, "[NOT PRINTED: IT MAY DIVIDE BY ZERO]");
        return;
    }
    struct trace_seq seq;
    struct tep_record record = { .size = (int)size,
                                 .record_size = (int)size,
                                 .data = (void *)(uintptr_t)data };
    pthread_mutex_lock(&tracing->lock);
    tracing->resolver = resolver;
    errno = 0;
    trace_seq_init(&seq);
    tep_print_event(tracing->tep, &seq, &record, "%s", TEP_PRINT_INFO);
    out->failed |= errno ==
                   ENOMEM; /* a part of the text is not there then, and nothing else tells */
    pd_text_bytes(out, seq.buffer, seq.len);
    trace_seq_destroy(&seq);
    tracing->resolver = NULL;
    pthread_mutex_unlock(&tracing->lock);
}

/* libtraceevent trusts the offsets of the format: a payload that is too short for them is not shown
 * to it. */
static bool holds_all_fields(const struct pd_trace_format *format, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < format->fields.count; i++) {
        const struct pd_trace_field *field = &format->fields.data[i];
        if (!pd_range_ok(field->offset, field->size, size))
            return false;
        size_t length;
        if (field->dynamic && !pd_trace_bytes(format, field, data, size, &length))
            return false;
    }
    return true;
}

void pd_trace_print(const struct pd_trace_format *format, const struct pd_trace_resolver *resolver,
                    const uint8_t *data, size_t size, struct pd_text *out)
{
    if (!format->compiled) {
        if (size <= INT32_MAX && holds_all_fields(format, data, size))
            print_by_library(format, resolver, data, size, out);
        return;
    }
    struct payload payload = { format, data, size, format->tracing->swap };
    const struct pd_trace_piece *piece = format->pieces.data, *end = piece + format->pieces.count;
    for (; piece < end; piece++) {
        if (piece->quick) {
            if (!pd_text_room(out, format->quick_room + 1))
                return;
            piece = put_quick(&payload, piece, end, out) - 1;
            continue;
        }
        switch (piece->kind) {
        case PIECE_LITERAL: pd_text_bytes(out, piece->text, piece->text_length); break;
        case PIECE_NUMBER: put_number(&payload, piece, out); break;
        case PIECE_POINTER: put_pointer(run(&payload, piece->program), out); break;
        case PIECE_FUNCTION: put_function(&payload, piece, resolver, out); break;
        case PIECE_STRING: put_string(&payload, piece, out); break;
        }
    }
}

/* Bytes up to a NUL, when all can be printed. */
static bool put_printable(const uint8_t *bytes, size_t length, struct pd_text *out)
{
    size_t count = strnlen((const char *)bytes, length);
    for (size_t i = 0; i < count; i++)
        if (!(bytes[i] >= ' ' && bytes[i] <= '~') && !(bytes[i] >= '\t' && bytes[i] <= '\r'))
            return false;
    pd_text_bytes(out, (const char *)bytes, count);
    return true;
}

void pd_trace_print_field(const struct pd_trace_format *format, const struct pd_trace_field *field,
                          const uint8_t *data, size_t size, struct pd_text *out)
{
    bool is_string = field->kind == PD_TRACE_STRING, is_long = strstr(field->type, "long") != NULL;
    if (is_string || field->kind == PD_TRACE_ARRAY) {
        size_t length = 0;
        const uint8_t *bytes = pd_trace_bytes(format, field, data, size, &length);
        if (!bytes || (is_string && put_printable(bytes, length, out)))
            return;
        pd_text_string(out, "ARRAY[");
        for (size_t i = 0; i < length; i++) {
            pd_text_string(out, i ? ", " : "");
            pd_text_hex(out, bytes[i], 2, '0');
        }
        pd_text_char(out, ']');
        return;
    }
    uint64_t value;
    if (!pd_trace_number(format, field, data, size, &value))
        return;
    bool is_signed = field->kind == PD_TRACE_SIGNED;
    if (field->kind == PD_TRACE_POINTER || (is_long && !is_signed))
        put_hex_rest(value, out);
    else if (is_long && field->size == 4)
        put_hex_rest((uint32_t)value, out);
    else if (is_signed)
        pd_text_i64(out, (int64_t)value, field->size == 2 ? 2 : 0);
    else
        pd_text_u64(out, value, 0, ' ');
}

void pd_trace_print_fields(const struct pd_trace_format *format, const uint8_t *data, size_t size,
                           struct pd_text *out)
{
    for (size_t i = 0; i < format->fields.count; i++) {
        const struct pd_trace_field *field = &format->fields.data[i];
        if (field->common)
            continue;
        pd_text_char(out, ' ');
        pd_text_string(out, field->name);
        pd_text_char(out, '=');
        pd_trace_print_field(format, field, data, size, out);
    }
}
