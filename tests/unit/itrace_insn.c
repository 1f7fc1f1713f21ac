/* SPDX-License-Identifier: MIT */
/* Lengths and kinds of instructions. With an argument: reads lines of `objdump -d -w` of that word
 * size (64 or 32) from stdin and compares with what it says. */
#include "itrace/code/insn.h"
#include "test.h"
#include <ctype.h>

struct known {
    const char *hex;
    int bits; /* 0: in both */
    uint8_t op, branch, length;
    int32_t rel;
};

#define BOTH 0
#define ROW(hex, bits, op, branch, length, rel)                                                    \
    {                                                                                              \
        hex, bits, PD_INSN_##op, PD_BRANCH_##branch, length, rel                                   \
    }

static const struct known table[] = {
    ROW("70 05", BOTH, JCC, CONDITIONAL, 2, 5), ROW("7f fb", BOTH, JCC, CONDITIONAL, 2, -5),
    ROW("2e 75 10", BOTH, JCC, CONDITIONAL, 3, 16), /* branch hint */
    ROW("0f 80 00 01 00 00", BOTH, JCC, CONDITIONAL, 6, 256),
    ROW("0f 8f ff ff ff ff", BOTH, JCC, CONDITIONAL, 6, -1),
    ROW("66 0f 84 34 12", 32, JCC, CONDITIONAL, 5, 0x1234),
    ROW("e3 02", BOTH, JCC, CONDITIONAL, 2, 2), ROW("67 e3 02", BOTH, JCC, CONDITIONAL, 3, 2),
    ROW("e0 fe", BOTH, LOOP, CONDITIONAL, 2, -2), ROW("e1 fe", BOTH, LOOP, CONDITIONAL, 2, -2),
    ROW("e2 fe", BOTH, LOOP, CONDITIONAL, 2, -2),
    ROW("e8 00 00 00 00", BOTH, CALL, UNCONDITIONAL, 5, 0),
    ROW("66 e8 00 80", 32, CALL, UNCONDITIONAL, 4, -32768),
    ROW("48 e8 01 00 00 80", 64, CALL, UNCONDITIONAL, 6, INT32_MIN + 1),
    ROW("9a 11 22 33 44 55 66", 32, CALL, INDIRECT, 7, 0), ROW("ff d0", BOTH, CALL, INDIRECT, 2, 0),
    ROW("41 ff d3", 64, CALL, INDIRECT, 3, 0),
    ROW("3e ff d0", BOTH, CALL, INDIRECT, 3, 0), /* notrack */
    ROW("ff 15 00 10 00 00", BOTH, CALL, INDIRECT, 6, 0),
    ROW("ff 18", BOTH, CALL, INDIRECT, 2, 0), /* far */
    ROW("e9 fb ff ff ff", BOTH, JMP, UNCONDITIONAL, 5, -5),
    ROW("eb 10", BOTH, JMP, UNCONDITIONAL, 2, 16),
    ROW("ea 11 22 33 44 55 66", 32, JMP, INDIRECT, 7, 0), ROW("ff e0", BOTH, JMP, INDIRECT, 2, 0),
    ROW("ff 24 c5 00 10 00 00", BOTH, JMP, INDIRECT, 7, 0),
    ROW("ff 28", BOTH, JMP, INDIRECT, 2, 0),                                       /* far */
    ROW("c3", BOTH, RET, INDIRECT, 1, 0), ROW("f2 c3", BOTH, RET, INDIRECT, 2, 0), /* bnd */
    ROW("f3 c3", BOTH, RET, INDIRECT, 2, 0), ROW("c2 08 00", BOTH, RET, INDIRECT, 3, 0),
    ROW("ca 08 00", BOTH, RET, INDIRECT, 3, 0), ROW("cb", BOTH, RET, INDIRECT, 1, 0),
    ROW("48 cb", 64, RET, INDIRECT, 2, 0), ROW("cf", BOTH, IRET, INDIRECT, 1, 0),
    ROW("48 cf", 64, IRET, INDIRECT, 2, 0), ROW("cc", BOTH, INT, INDIRECT, 1, 0),
    ROW("cd 80", BOTH, INT, INDIRECT, 2, 0), ROW("ce", 32, INT, INDIRECT, 1, 0),
    ROW("0f 05", BOTH, SYSCALL, INDIRECT, 2, 0), ROW("0f 34", BOTH, SYSCALL, INDIRECT, 2, 0),
    ROW("0f 07", BOTH, SYSRET, INDIRECT, 2, 0), ROW("48 0f 07", 64, SYSRET, INDIRECT, 3, 0),
    ROW("0f 35", BOTH, SYSRET, INDIRECT, 2, 0), ROW("0f 01 c2", BOTH, VMENTRY, INDIRECT, 3, 0),
    ROW("0f 01 c3", BOTH, VMENTRY, INDIRECT, 3, 0),
    /* what is none for a walk */
    ROW("0f 01 c1", BOTH, OTHER, NONE, 3, 0),          /* vmcall */
    ROW("0f 01 c4", BOTH, OTHER, NONE, 3, 0),          /* vmxoff */
    ROW("0f 01 d1", BOTH, OTHER, NONE, 3, 0),          /* xsetbv */
    ROW("0f 22 d8", BOTH, OTHER, NONE, 3, 0),          /* mov cr3 */
    ROW("0f 0b", BOTH, OTHER, NONE, 2, 0),             /* ud2 */
    ROW("f4", BOTH, OTHER, NONE, 1, 0),                /* hlt */
    ROW("0f aa", BOTH, OTHER, NONE, 2, 0),             /* rsm */
    ROW("c7 f8 04 00 00 00", BOTH, OTHER, NONE, 6, 0), /* xbegin */
    ROW("c6 f8 00", BOTH, OTHER, NONE, 3, 0),          /* xabort */
    ROW("f3 48 0f ae e0", 64, OTHER, NONE, 5, 0),      /* ptwrite */
    ROW("0f 01 c9", BOTH, OTHER, NONE, 3, 0),          /* mwait */
    ROW("ff c0", BOTH, OTHER, NONE, 2, 0), ROW("ff 30", BOTH, OTHER, NONE, 2, 0),
    ROW("f3 0f 1e fa", 64, OTHER, NONE, 4, 0), /* endbr64 */
    ROW("48 b8 11 22 33 44 55 66 77 88", 64, OTHER, NONE, 10, 0),
    ROW("66 66 2e 0f 1f 84 00 00 00 00 00", BOTH, OTHER, NONE, 11, 0),
    /* what is no instruction, but has a length for perf */
    ROW("06", 64, OTHER, NONE, 1, 0), ROW("47 4e", 64, OTHER, NONE, 2, 0),
    ROW("48 66", 64, OTHER, NONE, 2, 0), ROW("64 06", 64, OTHER, NONE, 2, 0),
    ROW("ff ff", BOTH, OTHER, NONE, 2, 0), ROW("8d f3", BOTH, OTHER, NONE, 2, 0),
    ROW("0f ae 38", BOTH, OTHER, NONE, 3, 0),
    ROW("26 2e 36 3e 64", BOTH, OTHER, NONE, 5, 0), /* a fifth prefix is an opcode */
    ROW("0f 71 e8", BOTH, OTHER, NONE, 3, 0),       /* no such shift */
    ROW("0f 71 e0 01", BOTH, OTHER, NONE, 4, 0),
    ROW("9a 11 22 33 44 55 66", 64, CALL, INDIRECT, 7, 0),
    /* opcodes of branches in other maps */
    ROW("c5 f8 77", BOTH, OTHER, NONE, 3, 0),           /* vzeroupper: 0F 77 */
    ROW("c4 e2 7d 8c 00", BOTH, OTHER, NONE, 5, 0),     /* vpmaskmovd: 0F38 8C */
    ROW("62 f1 7c 48 c2 c0 00", 64, OTHER, NONE, 7, 0), /* vcmpps: 0F C2 */
    ROW("c5 fb c2 c1 00", BOTH, OTHER, NONE, 5, 0),     /* vcmpsd */
    ROW("8f e9 78 c2 c0", BOTH, OTHER, NONE, 2, 0),     /* XOP is not known to perf: pop */
    ROW("0f c3 07", BOTH, OTHER, NONE, 3, 0),           /* movnti: 0F C3 */
};

static size_t from_hex(const char *hex, uint8_t *bytes)
{
    size_t count = 0;
    char *end;

    for (; count < 32; hex = end) {
        unsigned long value = strtoul(hex, &end, 16);
        if (end == hex)
            break;
        bytes[count++] = (uint8_t)value;
    }
    return count;
}

static void check_row(const struct known *row, bool is_64_bit)
{
    uint8_t bytes[32];
    struct pd_insn insn;
    size_t size = from_hex(row->hex, bytes);

    if (!pd_insn_decode(bytes, size, is_64_bit, &insn)) {
        fprintf(stderr, "%s: not decoded\n", row->hex);
        CHECK(false);
        return;
    }
    if (insn.length != row->length || insn.op != row->op || insn.branch != row->branch ||
        insn.rel != row->rel)
        fprintf(stderr, "%s (%d bits):\n", row->hex, is_64_bit ? 64 : 32);
    CHECK_U64(insn.length, row->length);
    CHECK_U64(insn.op, row->op);
    CHECK_U64(insn.branch, row->branch);
    CHECK_U64((uint32_t)insn.rel, (uint32_t)row->rel);
    for (size_t less = 0; less < row->length; less++)
        CHECK(!pd_insn_decode(bytes, less, is_64_bit, &insn));
}

/* ---- xed's text ---- */

static const struct {
    uint64_t ip;
    const char *hex, *text;
} texts[] = {
    /* each line that the manual of perf-intel-pt shows */
    { 0xffffffff82133cdd, "4c 8b 48 48", "movq  0x48(%rax), %r9" },
    { 0xffffffff82133ce1, "4c 8b 50 50", "movq  0x50(%rax), %r10" },
    { 0xffffffff82133ce5, "4c 8b 58 58", "movq  0x58(%rax), %r11" },
    { 0xffffffff82133ce9, "4c 8b 60 60", "movq  0x60(%rax), %r12" },
    { 0xffffffff82133ced, "4c 8b 68 68", "movq  0x68(%rax), %r13" },
    { 0xffffffff82133cf1, "4c 8b 70 70", "movq  0x70(%rax), %r14" },
    { 0xffffffff82133cf5, "4c 8b 78 78", "movq  0x78(%rax), %r15" },
    { 0xffffffff82133cf9, "48 8b 00", "movq  (%rax), %rax" },
    { 0xffffffff82133cfc, "e8 3f ff ff ff", "callq  0xffffffff82133c40" },
    { 0xffffffff82133c40, "74 04", "jz 0xffffffff82133c46" },
    { 0xffffffff82133c42, "0f 01 c3", "vmresume" },
    { 0xffffffffbb678b06, "0f 1f 44 00 00", "nopl  %eax, (%rax,%rax,1)" },
    { 0xffffffffbb678b0b, "c3", "retq" },
    { 0xffffffffbb666646, "66 90", "data16 nop" },
    { 0xffffffffbb666648, "31 c0", "xor %eax, %eax" },
    { 0xffffffffbb66664a, "5d", "popq  %rbp" },
    { 0xffffffffbb66664b, "c3", "retq" },
    { 0xffffffffbb74607f, "85 c0", "test %eax, %eax" },
    { 0xffffffffbb746081, "74 b9", "jz 0xffffffffbb74603c" },
    { 0xffffffffbb74603c, "5b", "popq  %rbx" },
    { 0xffffffffbb74603d, "41 5c", "popq  %r12" },
    { 0xffffffff82200cb0, "0f 01 ca", "clac" },
    { 0xffffffff82200cb3, "6a ff", "pushq  $0xffffffffffffffff" },
    { 0xffffffff82200cb5, "e8 a6 04 00 00", "callq  0xffffffff82201160" },
    { 0xffffffff82201160, "fc", "cld" },
    { 0xffffffff82201161, "56", "pushq  %rsi" },
    { 0xffffffff82201162, "48 8b 74 24 08", "movq  0x8(%rsp), %rsi" },
    { 0xffffffff82201167, "48 89 7c 24 08", "movq  %rdi, 0x8(%rsp)" },
    { 0xffffffff8220116c, "52", "pushq  %rdx" },
    { 0xffffffff8220116d, "51", "pushq  %rcx" },
    { 0xffffffff8220116e, "50", "pushq  %rax" },
    /* and others that xed is known to have printed */
    { 0x7f5219ac27bf, "0f 85 2b 03 00 00", "jnz 0x7f5219ac2af0" },
    { 0x7f5219ac27c5, "48 83 fd 1f", "cmp $0x1f, %rbp" },
    { 0x7f5219ac27cf, "a8 08", "test $0x8, %al" },
    { 0x7f5219ac27d7, "48 8b 0d 8a c5 13 00", "movq  0x13c58a(%rip), %rcx" },
    { 0x7f5219ac27de, "49 89 fc", "mov %rdi, %r12" },
    { 0x7f5219ac27e1, "64 48 8b 01", "movq  %fs:(%rcx), %rax" },
    { 0x7f5219ac27ea, "48 8d 7d ef", "leaq  -0x11(%rbp), %rdi" },
    { 0x7f5219ac27f1, "48 c1 ee 04", "shr $0x4, %rsi" },
    { 0x7f5219ac27f5, "48 39 35 f4 ca 13 00", "cmpq  %rsi, 0x13caf4(%rip)" },
    { 0x7f5219ac2828, "0f 87 aa 00 00 00", "jnbe 0x7f5219ac28d8" },
    { 0x7f5219ac28d8, "f6 43 08 02", "testb  $0x2, 0x8(%rbx)" },
    { 0x560a8ef2866e, "89 7d ec", "movl  %edi, -0x14(%rbp)" },
    { 0x560a8ef28671, "c7 45 f8 00 00 00 00", "movl  $0x0, -0x8(%rbp)" },
    { 0x560a8ef2867b, "3d 4a 1d 00 00", "cmp $0x1d4a, %eax" },
    { 0x560a8ef28682, "b8 4a 1d 00 00", "mov $0x1d4a, %eax" },
    { 0x560a8ef28687, "99", "cdq" },
    { 0x1000, "48 83 e4 f0", "and $0xfffffffffffffff0, %rsp" },
    { 0x1000, "66 0f 1f 44 00 00", "nopw  %ax, (%rax,%rax,1)" },
    { 0x1000, "0f b6 00", "movzxb  (%rax), %eax" },
};

static void check_texts(void)
{
    for (size_t i = 0; i < PD_LENGTH(texts); i++) {
        uint8_t bytes[32];
        size_t size = from_hex(texts[i].hex, bytes);
        struct pd_text text = { 0 };
        CHECK(pd_insn_text(bytes, size, true, texts[i].ip, &text));
        pd_text_char(&text, '\0');
        CHECK_STR(text.data, texts[i].text);
        pd_text_free(&text);
    }
    uint8_t none[] = { 0x06, 0x90 };
    struct pd_text text = { 0 };
    CHECK(!pd_insn_text(none, sizeof none, true, 0, &text));
    CHECK_U64(text.length, 0);
    pd_text_free(&text);
}

/* ---- beside objdump ---- */

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static uint8_t op_by_name(const char *name)
{
    static const struct {
        const char *name;
        uint8_t op;
    } names[] = {
        { "call", PD_INSN_CALL },        { "lcall", PD_INSN_CALL },
        { "jmp", PD_INSN_JMP },          { "ljmp", PD_INSN_JMP },
        { "ret", PD_INSN_RET },          { "lret", PD_INSN_RET },
        { "loop", PD_INSN_LOOP },        { "iret", PD_INSN_IRET },
        { "int", PD_INSN_INT },          { "syscall", PD_INSN_SYSCALL },
        { "sysenter", PD_INSN_SYSCALL }, { "sysret", PD_INSN_SYSRET },
        { "sysexit", PD_INSN_SYSRET },   { "vmlaunch", PD_INSN_VMENTRY },
        { "vmresume", PD_INSN_VMENTRY }, { "j", PD_INSN_JCC },
    };
    static const char *const prefixes[] = { "bnd ", "notrack ", "repz ",  "data16 ",
                                            "cs ",  "ds ",      "rex.W ", "addr32 " };

    for (size_t i = 0; i < PD_LENGTH(prefixes); i++)
        if (begins(name, prefixes[i]))
            return op_by_name(name + strlen(prefixes[i]));
    for (size_t i = 0; i < PD_LENGTH(names); i++)
        if (begins(name, names[i].name))
            return names[i].op;
    return PD_INSN_OTHER;
}

/* "  401000:\tf3 0f 1e fa \tendbr64" */
static int compare(bool is_64_bit)
{
    char line[1024];
    size_t compared = 0;

    while (fgets(line, sizeof line, stdin)) {
        char *bytes_at = strchr(line, '\t'), *name = bytes_at ? strchr(bytes_at + 1, '\t') : NULL;
        uint8_t bytes[32];
        struct pd_insn insn;
        if (!name || strstr(name, "(bad)") || begins(bytes_at + 1, "9b d")) /* two in one */
            continue;
        *name++ = '\0';
        size_t size = from_hex(bytes_at + 1, bytes);
        bool ok = pd_insn_decode(bytes, size, is_64_bit, &insn) && insn.length == size &&
                  insn.op == op_by_name(name);
        compared++;
        if (!ok)
            fprintf(stderr, "%s -> %s", line, name);
        CHECK(ok);
    }
    printf("%zu instructions compared\n", compared);
    CHECK(compared > 0);
    return test_done();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return compare(atoi(argv[1]) == 64);
    for (size_t i = 0; i < PD_LENGTH(table); i++) {
        if (table[i].bits != 32)
            check_row(&table[i], true);
        if (table[i].bits != 64)
            check_row(&table[i], false);
    }
    check_texts();
    return test_done();
}
