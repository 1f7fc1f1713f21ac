/* SPDX-License-Identifier: MIT */
/* System calls of each machine: their numbers, what their arguments and results are shown as. */
#include "render/trace/syscall.h"
#include "test.h"

static const char *no_name(void *data, uint32_t tid)
{
    (void)data;
    (void)tid;
    return NULL;
}

/* The call as text. */
static void check_call(const char *arch, uint64_t number, const uint64_t *values, const char *text)
{
    struct pd_syscalls *syscalls = pd_syscalls_new(arch);
    CHECK(syscalls);
    const struct pd_syscall *call = pd_syscalls_at(syscalls, number);
    const struct pd_task_names names = { no_name, NULL };
    struct pd_syscall_text out = { 0 };
    CHECK(call);
    pd_text_format(&out.text, "%s(", call->name);
    const size_t begin = out.text.length;
    for (unsigned i = 0; i < call->count; i++) {
        size_t before = out.text.length;
        pd_text_string(&out.text, before > begin ? ", " : "");
        if (!pd_syscall_put_argument(call, i, values, &names, &out))
            out.text.length = before;
    }
    pd_text_char(&out.text, 0);
    CHECK_STR(out.text.data, text);
    pd_text_free(&out.text);
    pd_syscalls_free(syscalls);
}

static void check_numbers(void)
{
    static const struct {
        const char *arch;
        uint64_t execve, openat, statx;
    } machines[] = { { "x86_64", 59, 257, 332 },  { "i686", 11, 295, 383 },
                     { "aarch64", 221, 56, 291 }, { "aarch64_be", 221, 56, 291 },
                     { "riscv64", 221, 56, 291 }, { "armv7l", 11, 322, 397 },
                     { "armv8l", 11, 322, 397 },  { "s390x", 11, 288, 379 },
                     { "ppc64le", 11, 286, 383 }, { "ppc64", 11, 286, 383 } };
    for (size_t i = 0; i < PD_LENGTH(machines); i++) {
        CHECK(pd_syscalls_know(machines[i].arch));
        struct pd_syscalls *syscalls = pd_syscalls_new(machines[i].arch);
        CHECK(syscalls);
        CHECK_STR(pd_syscalls_at(syscalls, machines[i].execve)->name, "execve");
        CHECK_STR(pd_syscalls_at(syscalls, machines[i].openat)->name, "openat");
        CHECK_STR(pd_syscalls_at(syscalls, machines[i].statx)->name, "statx");
        CHECK(!pd_syscalls_at(syscalls, 511) && !pd_syscalls_at(syscalls, UINT64_MAX));
        pd_syscalls_free(syscalls);
    }
    CHECK(!pd_syscalls_know("mips64") && !pd_syscalls_know("") && !pd_syscalls_new("vax"));
}

/* Every number has a call, and every wider call another one: none is missing in the tables. */
static void check_tables(void)
{
    static const struct {
        const char *arch;
        unsigned calls;
    } machines[] = { { "x86_64", 362 }, { "i386", 440 },  { "aarch64", 306 }, { "riscv64", 306 },
                     { "arm", 409 },    { "s390x", 368 }, { "ppc64", 403 } };
    for (size_t i = 0; i < PD_LENGTH(machines); i++) {
        struct pd_syscalls *syscalls = pd_syscalls_new(machines[i].arch);
        CHECK(syscalls);
        unsigned count = 0;
        for (uint64_t number = 0; number < 0xf0010; number++)
            count += pd_syscalls_at(syscalls, number) != NULL;
        CHECK_U64(count, machines[i].calls);
        pd_syscalls_free(syscalls);
    }
}

static void check_texts(void)
{
    /* flags of open() have other bits on other machines */
    const uint64_t folder[6] = { (uint32_t)-100, 0x1000, 0x4000 };
    check_call("x86_64", 257, folder, "openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECT");
    check_call("s390x", 288, folder, "openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECT");
    check_call("aarch64", 56, folder, "openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECTORY");
    check_call("armv7l", 322, folder, "openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECTORY");
    check_call("ppc64le", 286, folder,
               "openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECTORY");
    /* clone: other places of the stack, the flags and TLS; SETTLS alone */
    const uint64_t clone[6] = { 0x80000, 0x80000, 3, 4, 5 };
    check_call("x86_64", 56, clone, "clone(clone_flags: SETTLS, newsp: 0x80000, tls: 0x5");
    check_call("aarch64", 220, clone, "clone(clone_flags: SETTLS, newsp: 0x80000, tls: 0x4");
    check_call("s390x", 120, clone, "clone(newsp: 0x80000, clone_flags: SETTLS, tls: 0x5");
    /* what arguments mean depends on the call that the wider one stands for */
    const uint64_t futex[6] = { 0x2000, 1, 7, 8, 9, 10 };
    check_call("armv7l", 422, futex, "futex_time64(uaddr: 0x2000, op: WAKE, val: 7");
    /* 0x40 is NORESERVE on powerpc only */
    const uint64_t map[6] = { 0, 4096, 3, 0x62, 0, 0 };
    check_call("ppc64le", 90, map,
               "mmap(len: 4096, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS|NORESERVE");
    /* commands of ioctl() have the direction elsewhere on powerpc */
    const uint64_t control[6] = { 3, 0x4004fe01 };
    check_call("x86_64", 16, control, "ioctl(fd: 3, cmd: (WRITE, 0xfe, 0x1, 0x4)");
    check_call("ppc64", 54, control, "ioctl(fd: 3, cmd: (READ, 0xfe, 0x1, 0x4)");
    /* numbers have the width of the machine */
    const uint64_t bits[6] = { 0, 0, 0, 0xffffffff };
    check_call("armv7l", 398, bits, "rseq(sig: -1");
    check_call("aarch64", 293, bits, "rseq(sig: 4294967295");
}

static void check_results(void)
{
    struct pd_syscalls *narrow = pd_syscalls_new("armv7l"), *wide = pd_syscalls_new("aarch64");
    CHECK(narrow && wide);
    const struct pd_syscall *map = pd_syscalls_at(narrow, 192), *map_64 = pd_syscalls_at(wide, 222);
    CHECK(pd_syscall_returns_address(map) && pd_syscall_returns_address(map_64));
    CHECK_U64((uint64_t)pd_syscall_result(map, UINT64_C(0xffffffffb6f1e000)), 0xb6f1e000);
    CHECK_U64((uint64_t)pd_syscall_result(map, (uint64_t)-12), (uint64_t)-12);
    CHECK_U64((uint64_t)pd_syscall_result(map_64, (uint64_t)-5000), (uint64_t)-5000);
    /* perf shows neither: the kernel's tracepoint of the one is mmap_pgoff's, and it takes the
     * other's number for none */
    CHECK(map->perf_lacks && map_64->perf_lacks && !pd_syscalls_at(wide, 56)->perf_lacks);
    pd_syscalls_free(narrow);
    pd_syscalls_free(wide);
}

int main(void)
{
    check_numbers();
    check_tables();
    check_texts();
    check_results();
    return test_done();
}
