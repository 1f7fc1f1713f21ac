/* SPDX-License-Identifier: MIT */
/* Mangled C++ and Rust names -> readable ones. */
#include "object/symtab/demangle.h"
#include "base/memory.h"

#include "base/text.h"
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

/* No name of a compiler's grows so much. */
#define TEXT_MAX ((size_t)1 << 20)
#define TEXT_PER_BYTE 64
#define TEXT_LEAST 4096

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_alpha(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* camlModule__name_12: "__" is a dot, "$xx" a character. */
static char *demangle_ocaml(const char *name)
{
    if (strncmp(name, "caml", 4) != 0 || !is_upper(name[4]))
        return NULL;
    char *text = pd_memory_noted(malloc(strlen(name) + 1)), *to = text;
    if (!text)
        return NULL;
    for (const char *p = name + 4; *p;) {
        if (p[0] == '_' && p[1] == '_') {
            *to++ = '.';
            p += 2;
        } else if (p[0] == '$' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
            *to++ = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
            p += 3;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
    return text;
}

struct java {
    enum { JAVA_START, JAVA_CLASS, JAVA_METHOD, JAVA_ARGUMENTS, JAVA_ARGUMENT_CLASS } state;
    unsigned dimensions; /* of the array type being read */
    unsigned arguments;
    char *to, *end;
    bool bad;
};

static void java_put(struct java *java, const char *text)
{
    while (*text && java->to < java->end)
        *java->to++ = *text++;
}

static const char *java_base_type(char c)
{
    switch (c) {
    case 'B': return "byte";
    case 'C': return "char";
    case 'D': return "double";
    case 'F': return "float";
    case 'I': return "int";
    case 'J': return "long";
    case 'S': return "short";
    case 'Z': return "boolean";
    case 'V': return "void";
    default: return NULL;
    }
}

static void java_brackets(struct java *java)
{
    for (; java->dimensions; java->dimensions--)
        java_put(java, "[]");
}

/* One character inside the parentheses. As in perf the brackets of an array of objects go to the
 * next basic type. */
static void java_argument(struct java *java, char c)
{
    const char *base = java_base_type(c);

    if (c == 'L' || (base && c != 'V')) {
        if (java->arguments++)
            java_put(java, ", ");
    }
    if (c == 'L') {
        java->state = JAVA_ARGUMENT_CLASS;
    } else if (base) {
        java_put(java, base);
        java_brackets(java);
    } else if (c == '[') {
        java->dimensions++;
    } else if (c == ')') {
        java_put(java, ")");
        java->arguments = 0;
    } else if (c == '(' || c == ';' || c == '/') {
        java->bad = true;
    } else {
        java_put(java, (char[]){ c, 0 });
    }
}

static void java_step(struct java *java, char c, char next)
{
    bool in_class = java->state == JAVA_CLASS || java->state == JAVA_ARGUMENT_CLASS;

    if (java->state == JAVA_ARGUMENTS) {
        java_argument(java, c);
    } else if (c == '[' || c == ')' || (c == '(' && java->state != JAVA_METHOD) ||
               ((c == ';' || c == '/') && !in_class)) {
        java->bad = true;
    } else if (c == 'L' && java->state == JAVA_START) {
        java->state = JAVA_CLASS;
    } else if (c == '(') {
        java_put(java, "(");
        java->state = JAVA_ARGUMENTS;
    } else if (c == ';') {
        if (java->state == JAVA_CLASS && is_alpha(next))
            java_put(java, ".");
        java->state = java->state == JAVA_CLASS ? JAVA_METHOD : JAVA_ARGUMENTS;
    } else {
        java_put(java, c == '/' ? "." : (char[]){ c, 0 });
    }
}

/* Lpackage/Class;method(arguments)result: without the result. */
static char *demangle_java(const char *name)
{
    const char *end = strrchr(name, ')');
    size_t size = strlen(name) * 3 + 1;
    if (!end)
        return NULL;
    char *text = pd_memory_noted(calloc(1, size));
    if (!text)
        return NULL;
    struct java java = { .to = text, .end = text + size - 1 };
    for (const char *p = name; p <= end && !java.bad; p++)
        java_step(&java, *p, p[1]);
    if (java.bad) {
        free(text);
        return NULL;
    }
    return text;
}

/* Substitutions can make a short name's text grow without bound, and libiberty's printers cannot be
 * stopped otherwise. */
struct output {
    struct pd_text text;
    size_t limit;
    jmp_buf too_long;
};

static void take_output(const char *part, size_t size, void *data)
{
    struct output *output = data;

    if (size > output->limit - output->text.length)
        longjmp(output->too_long, 1);
    pd_text_bytes(&output->text, part, size);
}

/* What cplus_demangle does in its automatic style: Rust, then C++. */
static bool print_native(struct output *output, const char *name, int options)
{
    if (setjmp(output->too_long))
        return false;
    if (!rust_demangle_callback(name, options | DMGL_AUTO, take_output, output)) {
        output->text.length = 0;
        if (!cplus_demangle_v3_callback(name, options | DMGL_AUTO, take_output, output))
            return false;
    }
    pd_text_char(&output->text, '\0');
    return !output->text.failed;
}

static char *demangle_native(const char *name, int options)
{
    struct output output = { .limit = PD_MIN(strlen(name) * TEXT_PER_BYTE + TEXT_LEAST, TEXT_MAX) };

    if (print_native(&output, name, options))
        return output.text.data;
    pd_text_free(&output.text);
    return NULL;
}

char *pd_demangle(const char *name, bool verbose)
{
    char *text = NULL;

    /* all that libiberty's automatic style can read begins so; a call for each C name would cost
     * more than the rest */
    if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'G'))
        text = demangle_native(name, verbose ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS);
    if (!text)
        text = demangle_ocaml(name);
    if (!text)
        text = demangle_java(name);
    return text;
}
