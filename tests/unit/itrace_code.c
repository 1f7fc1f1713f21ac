/* SPDX-License-Identifier: MIT */
/* Which code runs at an address: runs up to branches, links, maps that change, patches. */
#include "build_record.h"
#include "itrace/code/code.h"
#include "test.h"
#include <unistd.h>

enum { PID = 4711, TEXT = 0x10000, STUB = 0x40 };

static struct pd_context context;
static struct pd_timeline *timeline;
static struct pd_symbols *symbols;
static struct pd_code *code;
static struct pd_code_reader *reader;
static uint64_t now;
static char path[] = "/tmp/perfdata-code-XXXXXX";

static const uint8_t program[] = {
    0x90, 0x48, 0x89, 0xe5, 0x74, 0x02,                /* 00 nop; mov; je 08 */
    0xeb, 0xf8,                                        /* 06 jmp 00 */
    0xe8, 0x03, 0x00, 0x00, 0x00,                      /* 08 call 10 */
    0xff, 0xe0, 0x90,                                  /* 0d jmp *rax; nop */
    0xc3,                                              /* 10 ret */
    0x62,                                              /* 11 EVEX, broken */
    0xeb, 0x10,                                        /* 12 jmp 24, over the mark */
    0x0f, 0x0b, 'p',  'e',  'r',  'f',  ',', 'p', 't', /* 14 */
    'w',  'r',  'i',  't',  'e',  ' ',  ' ',           /* */
    0xc3,                                              /* 24 */
};

static void apply(struct built record)
{
    CHECK_U64((uint64_t)pd_timeline_apply(timeline, NULL, record.bytes, record.size, ++now), 0);
}

static struct pd_thread *touch(uint32_t pid)
{
    return pd_timeline_touch(timeline, pid, pid, ++now);
}

static struct pd_code_view *see(uint32_t pid)
{
    struct pd_thread *thread = touch(pid);
    return pd_code_view(reader, thread, now, PD_CODE_HOST);
}

static void map(uint64_t start, uint64_t length, const char *file)
{
    struct built_file bits = { .prot = 5 };
    apply(build_mmap2(PD_CPUMODE_USER, PID, PID, start, length, 0, bits, file));
}

static void begin(void)
{
    struct pd_object_search search = { 0 };
    timeline = pd_timeline_new(&context, NULL, false);
    symbols = pd_symbols_new(&context, timeline, NULL, &search);
    code = pd_code_new(symbols);
    reader = pd_code_reader_new(code);
    now = 0;
    map(TEXT, 0x1000, path);
}

static void end(void)
{
    pd_code_reader_free(reader);
    pd_code_free(code);
    pd_symbols_free(symbols);
    pd_timeline_free(timeline);
}

static struct pd_code_node *at(struct pd_code_view *view, uint64_t ip)
{
    enum pd_code_error error;
    struct pd_code_node *node = pd_code_at(view, ip, &error);
    CHECK_U64(error, PD_CODE_OK);
    if (!node)
        abort();
    return node;
}

static enum pd_code_error fails(struct pd_code_view *view, uint64_t ip)
{
    enum pd_code_error error;
    CHECK(!pd_code_at(view, ip, &error));
    return error;
}

static void runs_end_at_branches(void)
{
    begin();
    struct pd_code_view *view = see(PID);
    struct pd_code_node *node = at(view, TEXT);
    CHECK_U64(node->insns, 3);
    CHECK_U64(node->lengths[1], 3);
    CHECK_U64(node->last_ip, TEXT + 4);
    CHECK_U64(node->next_ip, TEXT + 6);
    CHECK_U64(node->target, TEXT + 8);
    CHECK_U64(node->op, PD_INSN_JCC);
    CHECK_U64(node->branch, PD_BRANCH_CONDITIONAL);
    CHECK(!memcmp(node->code, program, 6) && node->is_64_bit);
    node = at(view, TEXT + 0xd);
    CHECK_U64(node->branch, PD_BRANCH_INDIRECT);
    CHECK_U64(node->target, 0);
    CHECK(!node->emulated_ptwrite);
    CHECK(at(view, TEXT + 0x12)->emulated_ptwrite);
    end();
}

static void nodes_link(void)
{
    begin();
    enum pd_code_error error;
    struct pd_code_view *view = see(PID);
    struct pd_code_node *node = at(view, TEXT);
    struct pd_code_node *taken = pd_code_taken(view, node, &error);
    struct pd_code_node *fall = pd_code_fall(view, node, &error);
    CHECK_U64(taken->ip, TEXT + 8);
    CHECK_U64(fall->ip, TEXT + 6);
    CHECK(node->taken == taken && node->fall == fall);
    CHECK(pd_code_taken(view, fall, &error) == node);
    CHECK(at(view, TEXT) == node);
    end();
}

static void errors_say_why(void)
{
    begin();
    map(0x20000, 0x1000, "/nonexistent/file");
    map(0x30000, 0x1000, "//anon");
    struct pd_code_view *view = see(PID);
    CHECK_U64(fails(view, 0x500), PD_CODE_NO_MAP);
    CHECK(!view->failed_map);
    CHECK_U64(fails(view, 0x20000), PD_CODE_UNREADABLE);
    CHECK(view->failed_map && view->failed_map->start == 0x20000);
    CHECK_U64(fails(view, 0x30000), PD_CODE_UNREADABLE);
    CHECK_U64(fails(view, TEXT + 0x11), PD_CODE_UNDECODABLE);
    CHECK_U64(fails(view, TEXT + 0x800), PD_CODE_UNDECODABLE); /* behind the file's end */
    CHECK_U64(fails(view, UINT64_MAX - 100), PD_CODE_NO_MAP);
    view = pd_code_view(reader, NULL, now, PD_CODE_HOST);
    CHECK_U64(fails(view, TEXT), PD_CODE_NO_MAP);
    end();
}

static void unreadable_objects_are_told_twice(void)
{
    begin();
    map(0x20000, 0x1000, "/nonexistent/file");
    struct pd_code_view *view = see(PID);
    fails(view, 0x20000);
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(!pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNDECODABLE));
    CHECK(pd_code_tell(code, NULL, PD_CODE_NO_MAP));
    end();
    /* ... once when the object was opened before, for a vdso's sake */
    begin();
    map(0x8000, 0x1000, "/nonexistent/file");   /* below what can be read */
    map(0x20000, 0x1000, "/nonexistent/other"); /* above */
    pd_code_see_vdso(code, touch(PID));
    view = see(PID);
    fails(view, 0x8000);
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(!pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    fails(view, 0x20000);
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    /* ... or for a sample's */
    map(0x30000, 0x1000, "/nonexistent/third");
    view = see(PID);
    fails(view, 0x30000);
    pd_code_see(code, view->failed_map);
    CHECK(pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    CHECK(!pd_code_tell(code, view->failed_map, PD_CODE_UNREADABLE));
    end();
}

static void views_come_back(void)
{
    begin();
    struct pd_thread *thread = touch(PID);
    uint64_t first = now;
    struct pd_code_view *before = pd_code_view(reader, thread, first, PD_CODE_HOST);
    struct pd_code_node *node = at(before, TEXT);
    apply(build_task(PD_RECORD_FORK, 0, PID + 1, PID, PID + 1, PID));
    CHECK(see(PID + 1) == before);
    map(TEXT, 4, "/nonexistent/file"); /* over the first instructions */
    struct pd_code_view *after = see(PID);
    CHECK(after != before);
    CHECK_U64(fails(after, TEXT), PD_CODE_UNREADABLE);
    CHECK_U64(at(after, TEXT + 4)->insns, 1);
    CHECK(pd_code_view(reader, thread, first, PD_CODE_HOST) == before);
    CHECK(at(before, TEXT) == node);
    CHECK(!pd_code_reader_trim(reader));
    end();
}

static void runs_end_with_their_map(void)
{
    begin();
    map(TEXT + 2, 0x10, path); /* within the second instruction */
    struct pd_code_view *view = see(PID);
    struct pd_code_node *node = at(view, TEXT);
    CHECK_U64(node->insns, 2);
    CHECK_U64(node->branch, PD_BRANCH_NONE);
    CHECK_U64(node->next_ip, TEXT + 4);
    CHECK_U64(node->length, 3);
    CHECK_U64(node->target, 0);
    enum pd_code_error error;
    CHECK_U64(pd_code_fall(view, node, &error)->ip, TEXT + 4);
    end();
}

static struct built build_poke(uint64_t addr, const uint8_t *bytes, uint16_t size)
{
    struct built record = built_begin(PD_RECORD_TEXT_POKE, PD_CPUMODE_KERNEL);
    built_u64(&record, addr);
    built_u16(&record, 0);
    built_u16(&record, size);
    memcpy(record.bytes + record.size, bytes, size);
    record.size = (uint32_t)pd_align8(record.size + size);
    return built_end(record);
}

static void poke(uint64_t addr, const uint8_t *bytes, uint16_t size)
{
    struct built record = build_poke(addr, bytes, size);
    CHECK_U64((uint64_t)pd_code_poke(code, NULL, record.bytes, record.size, false, ++now), 0);
}

/* A jump label: jmp 10 <-> a nop. */
static void patches_hold_from_their_number(void)
{
    static const uint8_t whole[] = { 0x90, 0xeb, 0x08, 0x90, 0xc3, 0, 0, 0, 0, 0, 0, 0xc3 };
    static const uint8_t nop[] = { 0x66, 0x90 }, jmp[] = { 0xeb, 0x08 };
    const uint64_t base = UINT64_C(0xffffffffa0000000) + STUB - 3;
    begin();
    apply(build_ksymbol(base, 0x40, 2, 0, "stub")); /* out of line: only pokes have its code */
    poke(base, whole, sizeof whole);
    touch(PID);
    uint64_t first = now;
    poke(base + 1, nop, sizeof nop);
    uint64_t second = ++now;
    struct pd_code_view *view = pd_code_view(reader, NULL, first, PD_CODE_HOST);
    struct pd_code_node *node = at(view, base);
    CHECK_U64(node->insns, 2);
    CHECK_U64(node->target, base + 11);
    enum pd_code_error error;
    struct pd_code_node *ret = pd_code_taken(view, node, &error);
    CHECK_U64(ret->op, PD_INSN_RET);
    uint64_t generation = view->generation;
    CHECK(pd_code_view(reader, NULL, second, PD_CODE_HOST) == view);
    CHECK(view->generation != generation && node->dead);
    node = at(view, base);
    CHECK(node && !node->dead);
    CHECK_U64(node->insns, 4);
    CHECK_U64(node->next_ip, base + 5);
    uint8_t bytes[PD_INSN_BUFFER];
    bool is_64_bit;
    CHECK_U64(pd_code_read(view, base + 1, bytes, sizeof bytes, &is_64_bit), sizeof bytes);
    CHECK(bytes[0] == 0x66 && bytes[1] == 0x90 && bytes[2] == 0x90 && bytes[10] == 0xc3);
    poke(base + 1, jmp, sizeof jmp);
    view = pd_code_view(reader, NULL, now, PD_CODE_HOST);
    CHECK_U64(at(view, base)->insns, 2);
    view = pd_code_view(reader, NULL, second, PD_CODE_HOST); /* back again */
    CHECK_U64(at(view, base)->insns, 4);
    end();
}

int main(void)
{
    int file = mkstemp(path);
    if (file < 0 || write(file, program, sizeof program) != (ssize_t)sizeof program)
        return 1;
    close(file);
    runs_end_at_branches();
    nodes_link();
    errors_say_why();
    unreadable_objects_are_told_twice();
    views_come_back();
    runs_end_with_their_map();
    patches_hold_from_their_number();
    unlink(path);
    return test_done();
}
