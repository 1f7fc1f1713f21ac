/* SPDX-License-Identifier: MIT */
/* Print formats: the compiled program prints what perf prints, in both byte orders, and never reads
 * outside. */
#include "base/text.h"
#include "test.h"
#include "tracepoint/tracepoint.h"

struct builder {
    struct pd_text bytes;
    bool swap;
    uint8_t long_size; /* 0: 8 */
};

static void put32(struct builder *b, uint32_t v)
{
    uint8_t bytes[4];
    pd_store32(bytes, v, b->swap);
    pd_text_bytes(&b->bytes, bytes, 4);
}

static void put64(struct builder *b, uint64_t v)
{
    uint8_t bytes[8];
    pd_store64(bytes, v, b->swap);
    pd_text_bytes(&b->bytes, bytes, 8);
}

#define COMMON                                                                                     \
    "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                 \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                   \
    "\tfield:char name[8];\toffset:8;\tsize:8;\tsigned:1;\n"                                       \
    "\tfield:int n;\toffset:16;\tsize:4;\tsigned:1;\n"                                             \
    "\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:1;\n"                            \
    "\tfield:u64 big;\toffset:24;\tsize:8;\tsigned:0;\n"                                           \
    "\tfield:void * where;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: "

static void put_format(struct builder *b, const char *name, unsigned id, const char *print)
{
    struct pd_text text = { 0 };
    pd_text_format(&text, "name: %s\nID: %u\n%s%s\n", name, id, COMMON, print);
    put64(b, text.length);
    pd_text_bytes(&b->bytes, text.data, text.length);
    pd_text_free(&text);
}

static const char *const prints[] = {
    "\"%s:%-10s|%10s|\", REC->name, REC->name, REC->name",
    "\"%d %5d %-5d| %05d %u %x %#x %03d\", REC->n, REC->n, REC->n, REC->n, REC->n, REC->n, REC->n, "
    "REC->n",
    "\"%s\", __get_str(path)",
    "\"%s %s\", __print_flags(REC->big & 7, \"|\", { 1, \"ONE\" }, { 2, \"TWO\" }), "
    "__print_symbolic(REC->n, { 3, \"three\" }, { -5, \"minus\" })",
    "\"%s%%\", REC->big > 4 ? \"large\" : \"small\"",
    "\"%pS %ps %p\", REC->where, REC->where, REC->where",
    "\"%llu %hu %hd %lx\", (unsigned long long)(REC->big << 4) + 1, REC->big, (short)REC->n, "
    "~REC->big",
    "\"%s\", __print_hex(REC->name, 4)",
    "\"%ld\", REC->n",
    "\"%s %d\", __print_hex(REC->name, 4), 100 / REC->common_flags",
    "\"%s %d\", __print_hex(REC->name, 4), 100 / REC->big",
};

enum { BIG = 13 };

static struct pd_tracing *make(struct builder *b, struct pd_context *context)
{
    pd_text_bytes(&b->bytes, "\x17\x08\x44tracing0.6\0", 14);
    bool host_little = pd_load16("\1\0", false) == 1;
    pd_text_char(&b->bytes, host_little == b->swap);
    pd_text_char(&b->bytes, b->long_size ? (char)b->long_size : 8);
    put32(b, 4096);
    pd_text_bytes(&b->bytes, "header_page\0", 12);
    put64(b, 0);
    pd_text_bytes(&b->bytes, "header_event\0", 13);
    put64(b, 0);
    put32(b, 0);
    put32(b, 1);
    pd_text_bytes(&b->bytes, "test\0", 5);
    put32(b, PD_LENGTH(prints));
    for (unsigned i = 0; i < PD_LENGTH(prints); i++) {
        char name[16] = { 'e', (char)('a' + i) };
        put_format(b, name, 100 + i, prints[i]);
    }
    put32(b, 0);
    put32(b, 0);
    put64(b, 0);
    struct pd_tracing *tracing = NULL;
    size_t used = 0;
    CHECK(pd_tracing_open(context, (uint8_t *)b->bytes.data, b->bytes.length, &used, &tracing) ==
          0);
    CHECK_U64(used, b->bytes.length);
    return tracing;
}

static const char *resolve(void *data, uint64_t address, uint64_t *start)
{
    (void)data;
    *start = 0x1000;
    return address >= 0x1000 && address < 0x2000 ? "function" : NULL;
}

static void check_texts(bool swap, uint8_t long_size)
{
    const char *const expected[] = {
        "perf:perf      |      perf|",
        "-5    -5 -5   | -0005 4294967291 fffffffb 0xfffffffb -05",
        "/bin/true",
        "ONE|0x4 0xfffffffb",
        "large%",
        "function+0x20 function 0x1020",
        long_size == 4 ? "209 13 -5 fffffff2" : "209 13 -5 fffffffffffffff2",
        "70 65 72 66",
        long_size == 4 ? "-5" : "4294967291",
        "[NOT PRINTED: IT MAY DIVIDE BY ZERO]",
        "70 65 72 66 7",
    };
    struct pd_context context;
    pd_context_init(&context);
    struct builder b = { .swap = swap, .long_size = long_size }, payload = { .swap = swap };
    struct pd_tracing *tracing = make(&b, &context);
    uint8_t common[8] = { 0 };
    pd_store16(common, 107, swap);
    pd_text_bytes(&payload.bytes, common, 8);
    pd_text_bytes(&payload.bytes, "perf\0\0\0\0", 8);
    put32(&payload, (uint32_t)-5);
    put32(&payload, 10u << 16 | 40);
    put64(&payload, BIG);
    put64(&payload, 0x1020);
    pd_text_bytes(&payload.bytes, "/bin/true\0", 10);
    struct pd_trace_resolver resolver = { resolve, NULL };
    for (unsigned i = 0; tracing && i < PD_LENGTH(prints); i++) {
        const struct pd_trace_format *format = pd_tracing_format(tracing, 100 + i);
        CHECK(format != NULL);
        if (!format)
            continue;
        CHECK(pd_trace_is_compiled(format) == (i != 7 && i < 9));
        pd_store16((uint8_t *)payload.bytes.data, (uint16_t)(100 + i), swap);
        struct pd_text out = { 0 };
        pd_trace_print(format, &resolver, (uint8_t *)payload.bytes.data, payload.bytes.length,
                       &out);
        pd_text_char(&out, 0);
        CHECK_STR(out.data, expected[i]);
        for (size_t cut = 0; cut < payload.bytes.length; cut++) { /* a short payload is harmless */
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, payload.bytes.data, cut);
            out.length = 0;
            pd_trace_print(format, &resolver, copy, cut, &out);
            free(copy);
        }
        pd_text_free(&out);
    }
    pd_tracing_free(tracing);
    pd_text_free(&b.bytes);
    pd_text_free(&payload.bytes);
    pd_context_fini(&context);
}

static void check_fields(void)
{
    struct pd_context context;
    pd_context_init(&context);
    struct builder b = { 0 };
    struct pd_tracing *tracing = make(&b, &context);
    const struct pd_trace_format *format = pd_tracing_format(tracing, 100);
    CHECK_STR(pd_trace_system(format), "test");
    CHECK_U64(pd_trace_field_count(format), 9);
    const struct pd_trace_field *n = pd_trace_field(format, "n"),
                                *path = pd_trace_field(format, "path");
    CHECK(n && n->kind == PD_TRACE_SIGNED && path && path->dynamic);
    CHECK(pd_trace_field(format, "nothing") == NULL && pd_tracing_format(tracing, 1) == NULL);
    pd_tracing_free(tracing);
    pd_text_free(&b.bytes);
    pd_context_fini(&context);
}

/* Every cut of the tracing data opens or fails cleanly. */
static void check_cuts(void)
{
    struct pd_context context;
    pd_context_init(&context);
    struct builder b = { 0 };
    pd_tracing_free(make(&b, &context));
    for (size_t cut = 0; cut < b.bytes.length; cut += cut < 64 ? 1 : 97) {
        struct pd_tracing *tracing = NULL;
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, b.bytes.data, cut);
        if (pd_tracing_open(&context, copy, cut, NULL, &tracing) == 0)
            pd_tracing_free(tracing);
        free(copy);
    }
    pd_text_free(&b.bytes);
    pd_context_fini(&context);
}

int main(void)
{
    check_texts(false, 8);
    check_texts(true, 8);
    check_texts(false, 4);
    check_texts(true, 4);
    check_fields();
    check_cuts();
    return test_done();
}
