/* SPDX-License-Identifier: MIT */
/* libtraceevent's tree of a print format -> a flat program. */
#include "tracepoint/program.h"
#include <ctype.h>

struct compiler {
    struct pd_trace_format *format;
    struct pd_arena *arena;
    unsigned depth;
};

static bool emit(struct compiler *c, struct pd_trace_op op)
{
    return pd_vec_push(&c->format->ops, op);
}

static struct tep_format_field *field_named(struct compiler *c, struct tep_format_field *known,
                                            const char *name)
{
    return known ? known : name ? tep_find_any_field(c->format->event, name) : NULL;
}

static bool number_size(int size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* "unsigned short" and its like -> bytes and sign; 0 bytes: no cast needed; -1: unknown. */
static int cast_of(const char *type, bool *is_signed)
{
    static const struct {
        const char *name;
        int8_t size;
        bool is_signed;
    } casts[] = {
        { "u8", 1, false },       { "u16", 2, false },  { "u32", 4, false }, { "u64", 8, false },
        { "s8", 1, true },        { "s16", 2, true },   { "s32", 4, true },  { "s64", 8, true },
        { "char", 1, true },      { "short", 2, true }, { "int", 4, true },  { "long", 8, true },
        { "long long", 8, true },
    };
    if (strchr(type, '*'))
        return 0;
    bool is_unsigned = strncmp(type, "unsigned", 8) == 0;
    const char *rest = is_unsigned ? type + 8 : strncmp(type, "signed", 6) == 0 ? type + 6 : type;
    while (*rest == ' ')
        rest++;
    if (is_unsigned && !*rest)
        rest = "int";
    for (size_t i = 0; i < PD_LENGTH(casts); i++) {
        if (strcmp(rest, casts[i].name) == 0) {
            *is_signed = casts[i].is_signed && !is_unsigned;
            return casts[i].size;
        }
    }
    return 0; /* a typedef: libtraceevent leaves the number as it is */
}

static bool compile_number(struct compiler *c, const struct tep_print_arg *arg);

static bool compile_field_number(struct compiler *c, const struct tep_print_arg *arg)
{
    struct tep_format_field *field = field_named(c, arg->field.field, arg->field.name);
    if (!field || !number_size(field->size) || field->offset < 0)
        return false;
    return emit(c, (struct pd_trace_op){ .code = OP_FIELD,
                                         .size = (uint8_t)field->size,
                                         .offset = (uint32_t)field->offset });
}

static bool constant(const struct tep_print_arg *arg, uint64_t *value)
{
    if (!arg || arg->type != TEP_PRINT_ATOM || !arg->atom.atom)
        return false;
    *value = strtoull(arg->atom.atom, NULL, 0);
    return true;
}

/* array[index] of a field in place */
static bool compile_index(struct compiler *c, const struct tep_print_arg *arg)
{
    const struct tep_print_arg *left = arg->op.left;
    if (left->type != TEP_PRINT_FIELD)
        return false;
    struct tep_format_field *field = field_named(c, left->field.field, left->field.name);
    if (!field || field->offset < 0 || field->flags & TEP_FIELD_IS_DYNAMIC ||
        !number_size((int)field->elementsize))
        return false;
    uint64_t at = (uint64_t)field->offset, element = field->elementsize, index;
    if (constant(arg->op.right, &index) && index < UINT16_MAX)
        return emit(c, (struct pd_trace_op){ .code = OP_FIELD,
                                             .size = (uint8_t)element,
                                             .offset = (uint32_t)(at + index * element) });
    return emit(c, (struct pd_trace_op){ .code = OP_CONSTANT, .value = at }) &&
           compile_number(c, arg->op.right) &&
           emit(c, (struct pd_trace_op){ .code = OP_CONSTANT, .value = element }) &&
           emit(c, (struct pd_trace_op){ .code = OP_MUL }) &&
           emit(c, (struct pd_trace_op){ .code = OP_ADD }) &&
           emit(c, (struct pd_trace_op){ .code = OP_LOAD, .size = (uint8_t)element });
}

static bool compile_ternary(struct compiler *c, const struct tep_print_arg *arg)
{
    const struct tep_print_arg *choice = arg->op.right;
    if (!choice || choice->type != TEP_PRINT_OP || !compile_number(c, arg->op.left))
        return false;
    size_t test = c->format->ops.count;
    if (!emit(c, (struct pd_trace_op){ .code = OP_JUMP_IF_ZERO }) ||
        !compile_number(c, choice->op.left))
        return false;
    size_t over = c->format->ops.count;
    if (!emit(c, (struct pd_trace_op){ .code = OP_JUMP }))
        return false;
    c->format->ops.data[test].value = c->format->ops.count;
    if (!compile_number(c, choice->op.right))
        return false;
    c->format->ops.data[over].value = c->format->ops.count;
    return true;
}

static bool compile_op(struct compiler *c, const struct tep_print_arg *arg)
{
    static const struct {
        const char *text;
        uint8_t code;
    } binary[] = {
        { "+", OP_ADD }, { "-", OP_SUB },   { "*", OP_MUL },  { "/", OP_DIV },  { "%", OP_MOD },
        { "&", OP_AND }, { "|", OP_OR },    { "^", OP_XOR },  { "<<", OP_SHL }, { ">>", OP_SHR },
        { "==", OP_EQ }, { "!=", OP_NE },   { "<", OP_LT },   { "<=", OP_LE },  { ">", OP_GT },
        { ">=", OP_GE }, { "&&", OP_LAND }, { "||", OP_LOR },
    };
    const char *op = arg->op.op;
    if (!op || !arg->op.right)
        return false;
    if (strcmp(op, "?") == 0)
        return compile_ternary(c, arg);
    if (strcmp(op, "[") == 0)
        return arg->op.left && compile_index(c, arg);
    bool unary = !arg->op.left || arg->op.left->type == TEP_PRINT_NULL;
    if (unary) {
        uint8_t code = strcmp(op, "!") == 0   ? OP_NOT
                       : strcmp(op, "~") == 0 ? OP_COMPLEMENT
                       : strcmp(op, "-") == 0 ? OP_NEGATE
                                              : OP_END;
        if (strcmp(op, "+") == 0)
            return compile_number(c, arg->op.right);
        return code != OP_END && compile_number(c, arg->op.right) &&
               emit(c, (struct pd_trace_op){ .code = code });
    }
    for (size_t i = 0; i < PD_LENGTH(binary); i++)
        if (strcmp(op, binary[i].text) == 0)
            return compile_number(c, arg->op.left) && compile_number(c, arg->op.right) &&
                   emit(c, (struct pd_trace_op){ .code = binary[i].code });
    return false;
}

static bool compile_cast(struct compiler *c, const struct tep_print_arg *arg)
{
    bool is_signed = false;
    int size = arg->typecast.type ? cast_of(arg->typecast.type, &is_signed) : -1;
    if (size < 0 || !arg->typecast.item || !compile_number(c, arg->typecast.item))
        return false;
    if (size == 0 || size == 8)
        return true;
    return emit(c,
                (struct pd_trace_op){ .code = OP_CAST, .size = (uint8_t)size, .value = is_signed });
}

static bool compile_number(struct compiler *c, const struct tep_print_arg *arg)
{
    if (!arg || ++c->depth > PD_TRACE_DEPTH)
        return false;
    bool done = false;
    uint64_t value;
    switch (arg->type) {
    case TEP_PRINT_NULL: done = emit(c, (struct pd_trace_op){ .code = OP_CONSTANT }); break;
    case TEP_PRINT_ATOM:
        done = constant(arg, &value) &&
               emit(c, (struct pd_trace_op){ .code = OP_CONSTANT, .value = value });
        break;
    case TEP_PRINT_FIELD: done = compile_field_number(c, arg); break;
    case TEP_PRINT_TYPE: done = compile_cast(c, arg); break;
    case TEP_PRINT_OP: done = compile_op(c, arg); break;
    case TEP_PRINT_DYNAMIC_ARRAY_LEN:
        done = arg->dynarray.field &&
               emit(c, (struct pd_trace_op){ .code = OP_DYNAMIC_LENGTH,
                                             .offset = (uint32_t)arg->dynarray.field->offset });
        break;
    default: break;
    }
    c->depth--;
    return done;
}

static bool compile_program(struct compiler *c, const struct tep_print_arg *arg, uint32_t *out)
{
    *out = (uint32_t)c->format->ops.count;
    return compile_number(c, arg) && emit(c, (struct pd_trace_op){ .code = OP_END });
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The names that the kernel's headers give to numbers without telling perf. */
static uint64_t flag_value(const char *text)
{
    static const struct {
        const char *name;
        uint8_t value;
    } names[] = {
        { "HI_SOFTIRQ", 0 },      { "TIMER_SOFTIRQ", 1 },     { "NET_TX_SOFTIRQ", 2 },
        { "NET_RX_SOFTIRQ", 3 },  { "BLOCK_SOFTIRQ", 4 },     { "IRQ_POLL_SOFTIRQ", 5 },
        { "TASKLET_SOFTIRQ", 6 }, { "SCHED_SOFTIRQ", 7 },     { "HRTIMER_SOFTIRQ", 8 },
        { "RCU_SOFTIRQ", 9 },     { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
    };
    if (isdigit((unsigned char)*text))
        return strtoull(text, NULL, 0);
    for (size_t i = 0; i < PD_LENGTH(names); i++)
        if (strcmp(text, names[i].name) == 0)
            return names[i].value;
    return UINT64_MAX; /* as libtraceevent has it */
}

static bool compile_names(struct compiler *c, const struct tep_print_flag_sym *list,
                          struct pd_trace_string *out)
{
    size_t count = 0;
    for (const struct tep_print_flag_sym *s = list; s; s = s->next)
        count++;
    struct pd_trace_names *names = pd_arena_alloc(c->arena, (count ? count : 1) * sizeof *names);
    if (!names || count > UINT32_MAX)
        return false;
    out->names = names;
    out->name_count = (uint32_t)count;
    for (const struct tep_print_flag_sym *s = list; s; s = s->next, names++) {
        names->value = s->value ? flag_value(s->value) : UINT64_MAX;
        names->text = s->str ? s->str : "";
        names->length = (uint32_t)strlen(names->text);
    }
    return true;
}

static bool compile_string_field(struct compiler *c, const struct tep_print_arg *arg,
                                 struct pd_trace_string *out)
{
    struct tep_format_field *field = field_named(c, arg->field.field, arg->field.name);
    if (!field || field->offset < 0 || field->size < 0)
        return false;
    bool pointer = !(field->flags & TEP_FIELD_IS_ARRAY) &&
                   field->size == c->format->tracing->long_size;
    out->kind = pointer ? STRING_POINTER : STRING_FIELD;
    out->offset = (uint32_t)field->offset;
    out->size = (uint32_t)field->size;
    return true;
}

static struct pd_trace_string *compile_string(struct compiler *c, const struct tep_print_arg *arg);

static bool compile_string_into(struct compiler *c, const struct tep_print_arg *arg,
                                struct pd_trace_string *out)
{
    struct tep_format_field *field;
    switch (arg->type) {
    case TEP_PRINT_ATOM:
        out->kind = STRING_LITERAL;
        out->text = arg->atom.atom;
        break;
    case TEP_PRINT_BSTRING:
        out->kind = STRING_LITERAL;
        out->text = arg->string.string;
        break;
    case TEP_PRINT_FIELD: return compile_string_field(c, arg, out);
    case TEP_PRINT_STRING:
        field = field_named(c, arg->string.field, arg->string.string);
        if (!field || field->offset < 0 || field->size != 4)
            return false;
        out->kind = STRING_DYNAMIC;
        out->offset = (uint32_t)field->offset;
        out->relative = field->flags & TEP_FIELD_IS_RELATIVE;
        return true;
    case TEP_PRINT_FLAGS:
        out->kind = STRING_FLAGS;
        out->text = arg->flags.delim ? arg->flags.delim : "";
        out->length = (uint32_t)strlen(out->text);
        return compile_names(c, arg->flags.flags, out) &&
               compile_program(c, arg->flags.field, &out->program);
    case TEP_PRINT_SYMBOL:
        out->kind = STRING_SYMBOL;
        return compile_names(c, arg->symbol.symbols, out) &&
               compile_program(c, arg->symbol.field, &out->program);
    case TEP_PRINT_OP:
        if (!arg->op.op || strcmp(arg->op.op, "?") != 0 || !arg->op.right ||
            arg->op.right->type != TEP_PRINT_OP)
            return false;
        out->kind = STRING_TERNARY;
        if (!compile_program(c, arg->op.left, &out->program))
            return false;
        out->yes = compile_string(c, arg->op.right->op.left);
        out->no = compile_string(c, arg->op.right->op.right);
        return out->yes && out->no;
    default: return false;
    }
    if (!out->text)
        return false;
    out->length = (uint32_t)strlen(out->text);
    return true;
}

static struct pd_trace_string *compile_string(struct compiler *c, const struct tep_print_arg *arg)
{
    if (!arg || ++c->depth > PD_TRACE_DEPTH)
        return NULL;
    struct pd_trace_string *out = pd_arena_zalloc(c->arena, sizeof *out);
    bool done = out && compile_string_into(c, arg, out);
    c->depth--;
    return done ? out : NULL;
}

/* ---- the format text ------------------------------------------------------------------------- */

static bool add_literal(struct compiler *c, const char *text, size_t length)
{
    if (!length)
        return true;
    char *copy = pd_arena_alloc(c->arena, length + 1);
    if (!copy)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length) {
            char next = text[++i];
            copy[used++] = (char)(next == 'n'   ? '\n'
                                  : next == 't' ? '\t'
                                  : next == 'r' ? '\r'
                                                : next);
        } else if (text[i] == '%' && i + 1 < length && text[i + 1] == '%') {
            copy[used++] = text[i++];
        } else {
            copy[used++] = text[i];
        }
    }
    copy[used] = 0;
    return pd_vec_push(&c->format->pieces,
                       (struct pd_trace_piece){
                           .kind = PIECE_LITERAL, .text = copy, .text_length = (uint32_t)used });
}

/* Flags, width, precision and length; where the conversion itself stands. */
static const char *scan_flags(const char *text, struct pd_trace_piece *piece, bool *star)
{
    const char *p = text;
    bool dot = false;
    piece->precision = -1;
    piece->plain = true;
    for (; *p; p++) {
        if (*p == '-' && !dot)
            piece->left = true;
        else if (*p == '#')
            piece->hash = true;
        else if (*p == ' ' || *p == '+')
            piece->plain = false;
        else if (*p == '0' && !dot && !piece->width)
            piece->zero = true;
        else if (isdigit((unsigned char)*p) && !dot)
            piece->width = (uint16_t)PD_MIN(piece->width * 10 + (*p - '0'), 4096);
        else if (isdigit((unsigned char)*p))
            piece->precision = PD_MIN(piece->precision * 10 + (*p - '0'), 4096);
        else if (*p == '.')
            dot = true, piece->precision = 0;
        else if (*p == '*' && dot)
            *star = true, piece->precision = -1;
        else if (*p == 'h')
            piece->length--;
        else if (*p == 'l')
            piece->length++;
        else if (*p == 'L')
            piece->length = 2;
        else if (*p == 'z' || *p == 'Z')
            piece->length = 1;
        else
            break;
    }
    return p;
}

/* The conversion at `text` (behind '%'); its length, 0 when it is one that only libtraceevent
 * knows. */
static size_t scan_conversion(const char *text, struct pd_trace_piece *piece, bool *star)
{
    const char *p = scan_flags(text, piece, star);
    switch (*p) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        piece->kind = PIECE_NUMBER;
        piece->conversion = *p == 'i' ? 'd' : *p;
        if (piece->precision >= 0 || *star || *p == 'o' || (piece->hash && *p != 'x'))
            piece->plain = false;
        if (piece->left && (piece->zero || piece->hash))
            piece->plain = false;
        if (piece->hash && (piece->zero || piece->width))
            piece->plain = false;
        break;
    case 's': piece->kind = PIECE_STRING; break;
    case 'p':
        if (p[1] == 'S' || p[1] == 's' || p[1] == 'F' || p[1] == 'f') {
            piece->kind = PIECE_FUNCTION;
            piece->offset = p[1] == 'S' || p[1] == 'F';
            return (size_t)(p + 2 - text);
        }
        if (isalnum((unsigned char)p[1]) || p != text)
            return 0;
        piece->kind = PIECE_POINTER;
        break;
    default: return 0;
    }
    return piece->length < -2 || piece->length > 2 ? 0 : (size_t)(p + 1 - text);
}

/* Kernel formats end in no "*" but in "%.*s"; anything else with a star is left to
 * libtraceevent. */
static bool add_conversion(struct compiler *c, const char **at, const struct tep_print_arg **arg)
{
    struct pd_trace_piece piece = { 0 };
    bool star = false;
    size_t length = scan_conversion(*at, &piece, &star);
    if (!length || !*arg)
        return false;
    if (star) {
        if (piece.kind != PIECE_STRING || !compile_program(c, *arg, &piece.star) ||
            !(*arg = (*arg)->next))
            return false;
        piece.precision_is_number = true;
    }
    if (piece.kind == PIECE_STRING) {
        piece.string = compile_string(c, *arg);
        if (!piece.string)
            return false;
    } else if (!compile_program(c, *arg, &piece.program)) {
        return false;
    }
    char *text = pd_arena_alloc(c->arena, length + 2);
    if (!text)
        return false;
    text[0] = '%';
    memcpy(text + 1, *at, length);
    text[length + 1] = 0;
    piece.text = text;
    piece.text_length = (uint32_t)length + 1;
    *arg = (*arg)->next;
    *at += length;
    return pd_vec_push(&c->format->pieces, piece);
}

/* Numbers as they are and the text between them need no look at widths and flags, and one room
 * holds them all. */
static void find_quick(struct pd_trace_format *format)
{
    enum { NUMBER_ROOM = 20 };
    format->quick_room = 0;
    for (size_t i = 0; i < format->pieces.count; i++) {
        struct pd_trace_piece *piece = &format->pieces.data[i];
        bool number = piece->kind == PIECE_NUMBER && piece->plain && !piece->width &&
                      !piece->hash && piece->conversion != 'X';
        piece->quick = number || piece->kind == PIECE_LITERAL;
        if (piece->quick)
            format->quick_room += number ? NUMBER_ROOM : piece->text_length;
    }
}

bool pd_trace_compile(struct pd_trace_format *format)
{
    const struct tep_event *event = format->event;
    const unsigned long not_ours = TEP_EVENT_FL_FAILED | TEP_EVENT_FL_ISBPRINT |
                                   TEP_EVENT_FL_ISFTRACE | TEP_EVENT_FL_PRINTRAW;
    if ((unsigned long)event->flags & not_ours || event->handler || !event->print_fmt.format)
        return false;
    struct compiler c = { .format = format, .arena = &format->tracing->arena };
    const struct tep_print_arg *arg = event->print_fmt.args;
    const char *at = event->print_fmt.format;
    while (*at) {
        const char *start = at;
        while (*at && (*at != '%' || at[1] == '%'))
            at += (*at == '%' || *at == '\\') && at[1] ? 2 : 1;
        if (!add_literal(&c, start, (size_t)(at - start)))
            return false;
        if (*at == '%' && (at++, !add_conversion(&c, &at, &arg)))
            return false;
    }
    find_quick(format);
    return true;
}
