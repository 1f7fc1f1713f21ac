/* SPDX-License-Identifier: MIT */
/* Loads programs of BPF and keeps them until its standard input ends: one function; two functions
 * with their names as BTF; the same without names. Says "ready", or why not (exit code 1). */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char log_text[1 << 16];

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static int failed(const char *what)
{
    printf("%s: %s\n%s\n", what, strerror(errno), log_text);
    return -1;
}

/* int; its function type; the functions "main_fn" and "sub_fn" of it. */
static int load_types(void)
{
    enum { HEADER = 24 };
    static const char strings[] = "\0int\0main_fn\0sub_fn";
    static const uint32_t types[] = { 1,         1u << 24,  4, 1u << 24 | 32,  0,
                                      13u << 24, 1,         5, 12u << 24 | 1u, 2,
                                      13,        12u << 24, 2 };
    const uint32_t sizes[] = { HEADER, 0, sizeof types, sizeof types, sizeof strings };
    const uint8_t magic[4] = { 0x9f, 0xeb, 1, 0 };
    uint8_t bytes[HEADER + sizeof types + sizeof strings];
    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + 4, sizes, sizeof sizes);
    memcpy(bytes + HEADER, types, sizeof types);
    memcpy(bytes + HEADER + sizeof types, strings, sizeof strings);
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.btf = address(bytes);
    attr.btf_size = sizeof bytes;
    attr.btf_log_buf = address(log_text);
    attr.btf_log_size = sizeof log_text;
    attr.btf_log_level = 1;
    int fd = (int)syscall(SYS_bpf, BPF_BTF_LOAD, &attr, sizeof attr);
    return fd < 0 ? failed("BTF") : fd;
}

static int load_program(const char *name, const struct bpf_insn *code, unsigned count, int types)
{
    static const struct bpf_func_info functions[] = { { 0, 3 }, { 2, 4 } };
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    attr.insns = address(code);
    attr.insn_cnt = count;
    attr.license = address("GPL");
    attr.log_buf = address(log_text);
    attr.log_size = sizeof log_text;
    attr.log_level = 1;
    snprintf(attr.prog_name, sizeof attr.prog_name, "%s", name);
    if (types >= 0) {
        attr.prog_btf_fd = (uint32_t)types;
        attr.func_info = address(functions);
        attr.func_info_rec_size = sizeof functions[0];
        attr.func_info_cnt = 2;
    }
    int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    return fd < 0 ? failed(name) : fd;
}

int main(void)
{
    static const struct bpf_insn one[] = { { 0xb7, 0, 0, 0, 0 }, { 0x95, 0, 0, 0, 0 } };
    static const struct bpf_insn two[] = {
        { 0x85, 0, 1, 0, 1 }, { 0x95, 0, 0, 0, 0 }, { 0xb7, 0, 0, 0, 7 }, { 0x95, 0, 0, 0, 0 }
    };
    char byte;
    int types = load_types();
    if (types < 0 || load_program("pd_one", one, 2, -1) < 0 ||
        load_program("pd_two", two, 4, types) < 0 || load_program("pd_bare", two, 4, -1) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
