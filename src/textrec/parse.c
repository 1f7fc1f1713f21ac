/* SPDX-License-Identifier: MIT */
/* The text of an item into nodes. */
#include "textrec/pdt.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

struct parser {
    struct pdt_item *item;
    const char *text;
    size_t at, length;
    unsigned depth;
    uint32_t open[PDT_DEEPEST];
};

bool pdt_error(struct pdt_item *item, size_t at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(item->error, sizeof item->error, format, list);
    va_end(list);
    item->error_at = at;
    return false;
}

void pdt_item_free(struct pdt_item *item)
{
    pd_vec_free(&item->nodes);
    pd_text_free(&item->bytes);
}

uint32_t pdt_find(struct pdt_item *item, uint32_t group, const char *name)
{
    size_t length = strlen(name);
    if (group == PDT_NONE)
        return PDT_NONE;
    struct pdt_node *nodes = item->nodes.data;
    for (uint32_t i = group + 1; i < nodes[group].end; i = nodes[i].end) {
        if (nodes[i].name && nodes[i].name_length == length && !nodes[i].used &&
            !memcmp(nodes[i].name, name, length)) {
            nodes[i].used = true;
            return i;
        }
    }
    return PDT_NONE;
}

bool pdt_is(const struct pdt_item *item, uint32_t node, const char *word)
{
    if (node == PDT_NONE || node >= item->nodes.count)
        return false;
    const struct pdt_node *it = &item->nodes.data[node];
    return it->kind == PDT_WORD && it->size == strlen(word) &&
           !memcmp(item->text + it->data, word, it->size);
}

/* ---- where an item ends ---- */

size_t pdt_scan(struct pdt_scan *scan, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (scan->comment || scan->text) {
            if (scan->comment && c != '\n')
                continue;
            if (scan->text && c != '\n') {
                scan->text = scan->escape || c != '"';
                scan->escape = !scan->escape && c == '\\';
                continue;
            }
            scan->comment = scan->text = scan->escape = false; /* a line ends both */
        }
        switch (c) {
        case '#': scan->comment = true; break;
        case '"': scan->text = true; break;
        case '{':
        case '[': scan->depth++; break;
        case '}':
        case ']': scan->depth -= scan->depth > 0; break;
        case '\n':
            if (!scan->depth)
                return i + 1;
            break;
        default: break;
        }
    }
    return SIZE_MAX;
}

/* ---- tokens ---- */

static int peek(const struct parser *p)
{
    return p->at < p->length ? (unsigned char)p->text[p->at] : -1;
}

static bool is_word(int c)
{
    return c > 0 && (isalnum(c) || strchr("_-.:/@+~|$%", c));
}

static void skip_blanks(struct parser *p)
{
    for (; p->at < p->length; p->at++) {
        int c = peek(p);
        if (c == '#')
            while (p->at + 1 < p->length && p->text[p->at + 1] != '\n')
                p->at++;
        else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ',')
            break;
    }
}

static struct pdt_node *push(struct parser *p, enum pdt_kind kind)
{
    struct pdt_item *item = p->item;
    struct pdt_node node = { .kind = (uint8_t)kind, .at = p->at, .padded = SIZE_MAX };
    if (item->nodes.count >= PDT_NONE - 1 || !pd_vec_push(&item->nodes, node)) {
        pdt_error(item, p->at, "out of memory");
        return NULL;
    }
    node.end = (uint32_t)item->nodes.count;
    item->nodes.data[item->nodes.count - 1].end = node.end;
    return &item->nodes.data[item->nodes.count - 1];
}

static int digit_of(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static bool read_digits(struct parser *p, unsigned base, uint64_t *value)
{
    size_t from = p->at;
    *value = 0;
    for (; digit_of(peek(p)) < (int)base; p->at++)
        if (pd_mul_overflows(*value, (uint64_t)base, value) ||
            pd_add_overflows(*value, (uint64_t)digit_of(peek(p)), value))
            return pdt_error(p->item, from, "expected a number of 64 bits");
    return p->at > from || pdt_error(p->item, from, "expected a digit");
}

/* 12.345678901s, or what strtod() takes. */
static bool read_real(struct parser *p, struct pdt_node *node, size_t from)
{
    char copy[64];
    size_t size = 0, fraction = 0;
    for (p->at = from; is_word(peek(p)) && size + 1 < sizeof copy; p->at++)
        copy[size++] = p->text[p->at];
    copy[size] = 0;
    if (size && copy[size - 1] == 's') {
        p->at = from;
        if (!read_digits(p, 10, &node->number))
            return false;
        bool fits = !pd_mul_overflows(node->number, UINT64_C(1000000000), &node->number);
        uint64_t scale = 1000000000, sum = 0;
        if (peek(p) == '.')
            for (p->at++; isdigit(peek(p)) && fraction < 9; p->at++, fraction++)
                sum += (uint64_t)(peek(p) - '0') * (scale /= 10);
        fits = fits && !pd_add_overflows(node->number, sum, &node->number);
        if (!fits || peek(p) != 's')
            return pdt_error(p->item, from, "expected a time like 12.345678901s");
        p->at++;
        return true;
    }
    char *end;
    double real = strtod(copy, &end);
    if (!size || *end)
        return pdt_error(p->item, from, "expected a number");
    memcpy(&node->number, &real, sizeof real);
    node->form = PDT_REAL;
    return true;
}

static bool read_number(struct parser *p, struct pdt_node *node)
{
    size_t from = p->at;
    bool negative = peek(p) == '-';
    p->at += negative;
    if (peek(p) == '0' && p->at + 1 < p->length && p->text[p->at + 1] == 'x') {
        p->at += 2;
        node->form = PDT_HEX;
        if (!read_digits(p, 16, &node->number))
            return false;
    } else if (!read_digits(p, 10, &node->number)) {
        return false;
    } else if (is_word(peek(p))) {
        return read_real(p, node, from);
    }
    if (negative && node->number > UINT64_C(1) << 63)
        return pdt_error(p->item, from, "expected a number of 64 bits");
    if (negative)
        node->number = 0 - node->number;
    return !is_word(peek(p)) || pdt_error(p->item, p->at, "expected the end of a number");
}

static bool read_bytes(struct parser *p, struct pdt_node *node)
{
    struct pd_text *bytes = &p->item->bytes;
    node->data = bytes->length;
    p->at += 2;
    while (peek(p) != '"') {
        int high = digit_of(peek(p));
        p->at++;
        int low = high < 16 ? digit_of(peek(p)) : 99;
        if (low > 15)
            return pdt_error(p->item, p->at - (high > 15), "expected two hexadecimal digits or \"");
        pd_text_char(bytes, (char)(high << 4 | low));
        p->at++;
    }
    p->at++;
    node->size = bytes->length - node->data;
    return true;
}

static bool read_escape(struct parser *p)
{
    static const char from[] = "abfnrtv\\\"'", to[] = "\a\b\f\n\r\t\v\\\"'";
    int c = peek(p);
    const char *simple = c > 0 ? strchr(from, c) : NULL;
    if (simple) {
        pd_text_char(&p->item->bytes, to[simple - from]);
        p->at++;
        return true;
    }
    unsigned value = 0, digits = 0;
    for (; digits < 3 && peek(p) >= '0' && peek(p) <= '7'; digits++, p->at++)
        value = value * 8 + (unsigned)(peek(p) - '0');
    if (!digits || value > 255)
        return pdt_error(p->item, p->at, "expected an escape of C, like \\n or \\012");
    pd_text_char(&p->item->bytes, (char)value);
    return true;
}

static bool read_text(struct parser *p, struct pdt_node *node)
{
    struct pd_text *bytes = &p->item->bytes;
    node->data = bytes->length;
    for (p->at++; peek(p) != '"';) {
        int c = peek(p);
        if (c < 0 || c == '\n')
            return pdt_error(p->item, p->at, "expected \" at the end of a text");
        p->at++;
        if (c != '\\')
            pd_text_char(bytes, (char)c);
        else if (!read_escape(p))
            return false;
    }
    p->at++;
    node->size = bytes->length - node->data;
    if (peek(p) == '/') {
        uint64_t padded;
        p->at++;
        if (!read_digits(p, 10, &padded))
            return false;
        node->padded = (size_t)padded;
    }
    return true;
}

/* ---- items ---- */

static bool read_value(struct parser *p, const char *name, size_t name_length)
{
    int c = peek(p), next = p->at + 1 < p->length ? p->text[p->at + 1] : 0;
    enum pdt_kind kind = c == '{'                                    ? PDT_GROUP
                         : c == '['                                  ? PDT_LIST
                         : c == '"'                                  ? PDT_TEXT
                         : c == 'x' && next == '"'                   ? PDT_BYTES
                         : isdigit(c) || (c == '-' && isdigit(next)) ? PDT_NUMBER
                                                                     : PDT_WORD;
    if (kind == PDT_WORD && !is_word(c))
        return pdt_error(p->item, p->at, "expected a value");
    struct pdt_node *node = push(p, kind);
    if (!node)
        return false;
    node->name = name;
    node->name_length = (uint32_t)name_length;
    bool ok = true;
    switch (kind) {
    case PDT_GROUP:
    case PDT_LIST:
        if (p->depth == PDT_DEEPEST)
            return pdt_error(p->item, p->at, "expected fewer levels: at most %d", PDT_DEEPEST);
        p->open[p->depth++] = (uint32_t)(p->item->nodes.count - 1);
        p->at++;
        return true;
    case PDT_TEXT: ok = read_text(p, node); break;
    case PDT_BYTES: ok = read_bytes(p, node); break;
    case PDT_NUMBER: ok = read_number(p, node); break;
    case PDT_WORD:
        for (node->data = p->at; is_word(peek(p)); p->at++)
            node->size++;
        break;
    }
    if (ok && peek(p) == '!') {
        node->forced = true;
        p->at++;
    }
    return ok;
}

static bool read_close(struct parser *p)
{
    struct pdt_node *nodes = p->item->nodes.data;
    uint32_t top = p->open[p->depth - 1];
    char wanted = nodes[top].kind == PDT_LIST ? ']' : '}';
    if (p->depth == 1 || peek(p) != wanted)
        return pdt_error(p->item, p->at,
                         p->depth == 1 ? "expected a field, not a closing bracket" : "expected %c",
                         wanted);
    nodes[top].end = (uint32_t)p->item->nodes.count;
    p->depth--;
    p->at++;
    return true;
}

static bool read_field(struct parser *p)
{
    const char *name = NULL;
    size_t from = p->at, length = 0;
    if (p->item->nodes.data[p->open[p->depth - 1]].kind == PDT_GROUP && is_word(peek(p))) {
        while (is_word(peek(p)))
            p->at++;
        length = p->at - from;
        while (peek(p) == ' ')
            p->at++;
        if (peek(p) == '=') {
            name = p->text + from;
            p->at++;
            skip_blanks(p);
        } else {
            p->at = from;
        }
    }
    if (!name && p->depth > 1 && p->item->nodes.data[p->open[p->depth - 1]].kind == PDT_GROUP)
        return pdt_error(p->item, p->at, "expected FIELD=VALUE or }");
    return read_value(p, name, name ? length : 0);
}

bool pdt_parse(struct pdt_item *item, const char *text, size_t length)
{
    struct parser p = { .item = item, .text = text, .length = length, .depth = 1 };
    item->nodes.count = 0;
    item->bytes.length = 0;
    item->text = text;
    item->length = length;
    if (!push(&p, PDT_GROUP))
        return false;
    for (skip_blanks(&p); p.at < p.length; skip_blanks(&p)) {
        int c = peek(&p);
        if (c == '}' || c == ']' ? !read_close(&p) : !read_field(&p))
            return false;
    }
    if (p.depth > 1)
        return pdt_error(item, length, "expected %c",
                         item->nodes.data[p.open[p.depth - 1]].kind == PDT_LIST ? ']' : '}');
    item->nodes.data[0].end = (uint32_t)item->nodes.count;
    return !item->bytes.failed || pdt_error(item, 0, "out of memory");
}
