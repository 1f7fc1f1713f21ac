/* SPDX-License-Identifier: MIT */
/* Addresses to symbols: levels, caches, chains. The symbols are a perf map's and a kallsyms
 * file's. */
#include "build_record.h"
#include "resolve/resolve.h"
#include "test.h"
#include <limits.h>
#include <unistd.h>

static struct pd_context context;
static struct pd_timeline *timeline;
static struct pd_symbols *symbols;
static struct pd_resolver *resolver;
static uint64_t now;
static uint32_t pid; /* ours, so that nobody else's perf map is touched */
static char map_path[64], kallsyms_path[64];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0);
    if (file)
        fclose(file);
}

static uint64_t apply(struct built record)
{
    CHECK_U64((uint64_t)pd_timeline_apply(timeline, NULL, record.bytes, record.size, ++now), 0);
    return now;
}

static struct pd_thread *touch(uint32_t process, uint32_t tid)
{
    return pd_timeline_touch(timeline, process, tid, ++now);
}

static void begin_with(const struct pd_features *features)
{
    struct pd_object_search search = { .kallsyms = kallsyms_path };
    timeline = pd_timeline_new(&context, NULL, false);
    symbols = pd_symbols_new(&context, timeline, features, &search);
    resolver = pd_resolver_new(symbols);
    now = 0;
    struct built_file jit = { .prot = 5 };
    apply(build_mmap2(PD_CPUMODE_USER, pid, pid, 0x10000, 0x10000, 0, jit, "//anon"));
    apply(build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0xffffffff81000000, 0x1000000,
                     0xffffffff81000000, "[kernel.kallsyms]_text"));
}

static void begin(void)
{
    begin_with(NULL);
}

static void end(void)
{
    pd_resolver_free(resolver);
    pd_symbols_free(symbols);
    pd_timeline_free(timeline);
}

int main(void);

static const char *symbol(const struct pd_location *location)
{
    return location && location->sym ? location->sym->name : "none";
}

static void levels_follow_the_mode(void)
{
    begin();
    struct pd_thread *thread = touch(pid, pid);
    struct pd_location *user = pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010);
    CHECK_STR(symbol(user), "jitted one");
    CHECK_U64((uint64_t)user->level, '.');
    CHECK_U64(user->addr, 0x10010);
    struct pd_location *kernel = pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL,
                                            0xffffffff81000104);
    CHECK_STR(symbol(kernel), "do_work");
    CHECK_U64((uint64_t)kernel->level, 'k');
    CHECK(kernel->is_kernel_map);
    /* no fallback between the two */
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0xffffffff81000104)->map == NULL);
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0x10010)->map == NULL);
    for (uint8_t mode = 0; mode < 8; mode++) {
        if (mode == PD_CPUMODE_USER || mode == PD_CPUMODE_KERNEL)
            continue;
        struct pd_location *other = pd_resolve(resolver, thread, now, mode, 0x10010);
        CHECK(!other->map && !other->dso && !other->sym);
        CHECK_U64((uint64_t)other->level, 'H');
        CHECK_U64(other->addr, 0x10010);
    }
    end();
}

static void branches_by_address(void)
{
    begin();
    struct pd_thread *thread = touch(pid, pid);
    CHECK_STR(symbol(pd_resolve_any(resolver, thread, now, PD_CPUMODE_USER, 0xffffffff81000100)),
              "do_work");
    CHECK_STR(symbol(pd_resolve_any(resolver, thread, now, PD_CPUMODE_KERNEL, 0x10000)),
              "jitted one");
    CHECK(!pd_resolve_any(resolver, thread, now, PD_CPUMODE_UNKNOWN, 0x10000)->map);
    end();
}

/* One that was recorded from 0 on, as hidden addresses make perf record it, and that nobody can
 * read. */
static void kernel_of_all_addresses_takes_branches(void)
{
    struct pd_object_search search = { .kallsyms = "/nonexistent" };
    timeline = pd_timeline_new(&context, NULL, false);
    symbols = pd_symbols_new(&context, timeline, NULL, &search);
    resolver = pd_resolver_new(symbols);
    now = 0;
    apply(build_mmap2(PD_CPUMODE_USER, pid, pid, 0x10000, 0x10000, 0,
                      (struct built_file){ .prot = 5 }, "//anon"));
    apply(build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0, 0xffffffff9fffffff, 0xffffffff81000190,
                     "[kernel.kallsyms]_stext"));
    struct pd_thread *thread = touch(pid, pid);
    pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffff81000200);
    struct pd_location *user = pd_resolve_any(resolver, thread, now, PD_CPUMODE_KERNEL, 0x10000);
    CHECK(user->map && user->map->kernel);
    user = pd_resolve_any(resolver, thread, now, PD_CPUMODE_USER, 0x10000);
    CHECK(user->map && !user->map->kernel);
#ifdef __x86_64__
    /* What does not say its machine is of this one, where no map says where the kernel begins. */
    CHECK_U64(pd_symbols_kernel_start(symbols, now), UINT64_C(1) << 63);
#endif
    end();
}

/* This program's file; PATH_MAX bytes. */
static void own_path(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    CHECK(length > 0);
    path[length > 0 ? length : 0] = '\0';
}

/* This program, where two processes have it at different places. */
static void objects_share_their_locations(void)
{
    extern const char __executable_start[];
    const uint64_t offset = (uint64_t)((uintptr_t)main - (uintptr_t)__executable_start);
    const uint64_t far = UINT64_C(0x7f0000000000), nowhere = UINT64_C(0xff0000);
    char path[PATH_MAX];
    own_path(path);
    for (int shared = 0; shared < 2; shared++) {
        begin();
        pd_resolver_by_object(resolver, shared);
        struct built_file file = { .prot = 5 };
        apply(build_mmap2(PD_CPUMODE_USER, pid, pid, 0x1000000, 0x1000000, 0, file, path));
        apply(build_mmap2(PD_CPUMODE_USER, pid + 1, pid + 1, far, 0x1000000, 0, file, path));
        struct pd_thread *a = touch(pid, pid), *b = touch(pid + 1, pid + 1);
        struct pd_location *in_a, *in_b;
        in_a = pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + offset);
        in_b = pd_resolve(resolver, b, now, PD_CPUMODE_USER, far + offset);
        CHECK_STR(symbol(in_a), "main");
        CHECK_STR(symbol(in_b), "main");
        CHECK_U64(in_b->addr, in_a->addr);
        CHECK((in_a == in_b) == shared);
        CHECK(in_a == pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + offset));
        /* Of no function each process has its own. */
        in_a = pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + nowhere);
        in_b = pd_resolve(resolver, b, now, PD_CPUMODE_USER, far + nowhere);
        CHECK(in_a != in_b && in_a->map && in_b->map && !in_a->sym && !in_b->sym);
        CHECK_U64(in_a->ip, 0x1000000 + nowhere);
        CHECK_U64(in_b->ip, far + nowhere);
        end();
    }
}

/* A function has one location, wherever its object lies; the kernel's, too. */
static void functions_have_one_location(void)
{
    extern const char __executable_start[];
    const uint64_t offset = (uint64_t)((uintptr_t)main - (uintptr_t)__executable_start);
    const uint64_t far = UINT64_C(0x7f0000000000), in_work = 0xffffffff81000150;
    char path[PATH_MAX];
    own_path(path);
    begin();
    pd_resolver_by_object(resolver, true);
    pd_resolver_by_function(resolver, true);
    struct built_file file = { .prot = 5 };
    apply(build_mmap2(PD_CPUMODE_USER, pid, pid, 0x1000000, 0x1000000, 0, file, path));
    apply(build_mmap2(PD_CPUMODE_USER, pid + 1, pid + 1, far, 0x1000000, 0, file, path));
    struct pd_thread *a = touch(pid, pid), *b = touch(pid + 1, pid + 1);
    struct pd_location *in_a, *other;
    in_a = pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + offset);
    other = pd_resolve(resolver, b, now, PD_CPUMODE_USER, far + offset + 1);
    CHECK_STR(symbol(in_a), "main");
    CHECK(in_a == other && in_a->of_function);
    pd_resolve(resolver, a, now, PD_CPUMODE_KERNEL, in_work); /* loads the table */
    a = touch(pid, pid);
    in_a = pd_resolve(resolver, a, now, PD_CPUMODE_KERNEL, in_work);
    other = pd_resolve(resolver, a, now, PD_CPUMODE_KERNEL, in_work + 8);
    CHECK_STR(symbol(in_a), "do_work");
    CHECK(in_a == other && in_a->of_function && in_a->level == 'k');
    /* What is in no function has a location for each address. */
    in_a = pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + 0xff0000);
    other = pd_resolve(resolver, a, now, PD_CPUMODE_USER, 0x1000000 + 0xff0001);
    CHECK(in_a != other && !in_a->of_function);
    end();
}

/* How many of the addresses are told to lie in no function of the name. */
static unsigned elsewhere_in(struct pd_elsewhere *elsewhere, struct pd_thread *thread,
                             uint8_t cpumode, uint64_t from, uint64_t until)
{
    unsigned count = 0;
    for (uint64_t ip = from; ip < until; ip++)
        count += pd_elsewhere_is(elsewhere, thread, now, cpumode, ip);
    return count;
}

/* Nothing is told of an object before its first sample was resolved; then all of its addresses are
 * told, in every process, but not those near a function of the name. */
static void samples_lie_elsewhere(void)
{
    extern const char __executable_start[];
    const uint64_t offset = (uint64_t)((uintptr_t)main - (uintptr_t)__executable_start);
    const uint64_t near = 0x1000000, far = UINT64_C(0x7f0000000000), size = 0x1000000;
    char path[PATH_MAX];
    own_path(path);
    begin();
    struct pd_elsewhere *in_main = pd_elsewhere_new(symbols, "main");
    struct pd_elsewhere *in_none = pd_elsewhere_new(symbols, "no such function");
    struct built_file file = { .prot = 5 };
    struct pd_thread *b = touch(pid + 1, pid + 1);
    CHECK(!elsewhere_in(in_none, b, PD_CPUMODE_USER, far + offset, far + offset + 8));
    apply(build_mmap2(PD_CPUMODE_USER, pid, pid, near, size, 0, file, path));
    apply(build_mmap2(PD_CPUMODE_USER, pid + 1, pid + 1, far, size, 0, file, path));
    struct pd_thread *a = touch(pid, pid);
    b = touch(pid + 1, pid + 1);
    CHECK(!elsewhere_in(in_none, a, PD_CPUMODE_USER, near + offset, near + offset + 8));
    struct pd_location *location = pd_resolve(resolver, a, now, PD_CPUMODE_USER, near + offset);
    CHECK_STR(symbol(location), "main");
    const uint64_t length = location->sym->end - location->sym->start;
    CHECK(length > 1024); /* it goes beyond what is looked at at a time */
    CHECK(!elsewhere_in(in_main, a, PD_CPUMODE_USER, near + offset, near + offset + length));
    CHECK(!elsewhere_in(in_main, b, PD_CPUMODE_USER, far + offset, far + offset + length));
    /* not all, where many symbols overlap */
    CHECK(elsewhere_in(in_none, a, PD_CPUMODE_USER, near + offset, near + offset + length) >
          length / 2);
    CHECK_U64(elsewhere_in(in_none, b, PD_CPUMODE_USER, far, far + 4096), 4096);
    CHECK_U64(elsewhere_in(in_main, b, PD_CPUMODE_USER, far + 0xff0000, far + 0xff1000), 4096);
    CHECK(!elsewhere_in(in_none, b, PD_CPUMODE_USER, near, near + 4096)); /* no map */
    CHECK(!elsewhere_in(in_none, b, 7, far, far + 4096));
    /* Another object takes the place in one of the two. */
    apply(build_mmap2(PD_CPUMODE_USER, pid + 1, pid + 1, far, size, 0, file, "/no/such/file"));
    b = touch(pid + 1, pid + 1);
    CHECK(!elsewhere_in(in_none, b, PD_CPUMODE_USER, far, far + 4096));
    a = touch(pid, pid);
    CHECK_U64(elsewhere_in(in_none, a, PD_CPUMODE_USER, near, near + 4096), 4096);
    CHECK(!pd_resolve(resolver, b, now, PD_CPUMODE_USER, far + offset)->sym);
    CHECK_U64(elsewhere_in(in_main, b, PD_CPUMODE_USER, far, far + 4096), 4096);
    pd_elsewhere_free(in_main);
    pd_elsewhere_free(in_none);
    end();
}

static void kernel_samples_lie_elsewhere(void)
{
    const uint64_t in_work = 0xffffffff81000150;
    begin();
    struct pd_elsewhere *elsewhere = pd_elsewhere_new(symbols, "do_work");
    struct pd_elsewhere *in_none = pd_elsewhere_new(symbols, "no such function");
    struct pd_thread *a = touch(pid, pid);
    CHECK(!elsewhere_in(in_none, a, PD_CPUMODE_KERNEL, in_work, in_work + 8));
    struct pd_location *location = pd_resolve(resolver, a, now, PD_CPUMODE_KERNEL, in_work);
    CHECK_STR(symbol(location), "do_work");
    const struct pd_symbol *work = location->sym;
    CHECK(!elsewhere_in(in_none, a, PD_CPUMODE_KERNEL, in_work, in_work + 8)); /* it loads */
    a = touch(pid, pid);
    CHECK_U64(elsewhere_in(in_none, a, PD_CPUMODE_KERNEL, in_work, in_work + 8), 8);
    CHECK(!elsewhere_in(elsewhere, a, PD_CPUMODE_KERNEL, work->start, work->end));
    CHECK(!elsewhere_in(in_none, a, PD_CPUMODE_KERNEL, 0x1000, 0x1008));
    pd_elsewhere_free(elsewhere);
    pd_elsewhere_free(in_none);
    end();
}

static void unknown_thread_has_a_kernel(void)
{
    begin();
    touch(pid, pid);
    CHECK_STR(symbol(pd_resolve(resolver, NULL, now, PD_CPUMODE_KERNEL, 0xffffffff81000100)),
              "do_work");
    CHECK(!pd_resolve(resolver, NULL, now, PD_CPUMODE_USER, 0x10000)->map);
    end();
}

static void repeated_addresses_are_known(void)
{
    begin();
    struct pd_thread *thread = touch(pid, pid);
    struct pd_location *first = pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010);
    first->memo[0] = 77;
    touch(pid, pid);
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010) == first);
    /* a fork shares what is known */
    apply(build_task(PD_RECORD_FORK, 0, pid + 1, pid, pid + 1, pid));
    struct pd_thread *child = touch(pid + 1, pid + 1);
    CHECK(pd_resolve(resolver, child, now, PD_CPUMODE_USER, 0x10010) == first);
    CHECK_U64(pd_resolver_stamp(resolver, child, now), pd_resolver_stamp(resolver, thread, now));
    /* another map elsewhere changes the stamp, not the place */
    apply(build_mmap(PD_CPUMODE_USER, pid, pid, 0x900000, 0x1000, 0, "/nowhere"));
    touch(pid, pid);
    CHECK(pd_resolver_stamp(resolver, child, now) != pd_resolver_stamp(resolver, thread, now));
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010) == first);
    /* a map over it does */
    uint64_t before = now;
    apply(build_mmap(PD_CPUMODE_USER, pid, pid, 0x10000, 0x1000, 0, "/nowhere"));
    touch(pid, pid);
    CHECK_STR(pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010)->dso->name, "/nowhere");
    CHECK(pd_resolve(resolver, thread, before, PD_CPUMODE_USER, 0x10010) == first);
    struct pd_resolver_stats stats;
    pd_resolver_statistics(resolver, &stats);
    CHECK_U64(stats.lookups, 6);
    CHECK_U64(stats.made, 2);
    end();
}

static void trim_bounds_the_cache(void)
{
    begin();
    struct pd_thread *thread = touch(pid, pid);
    CHECK(!pd_resolver_trim(resolver));
    for (uint64_t i = 0; i < 500000; i++)
        pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x100000 + i);
    CHECK(pd_resolver_trim(resolver));
    struct pd_resolver_stats stats;
    pd_resolver_statistics(resolver, &stats);
    CHECK(stats.memory < 16 << 20);
    CHECK_STR(symbol(pd_resolve(resolver, thread, now, PD_CPUMODE_USER, 0x10010)), "jitted one");
    end();
}

static void bpf_program_is_its_own_symbol(void)
{
    begin();
    apply(build_ksymbol(0xffffffffc0000000, 0x100, 1, 0, "bpf_prog_1234_x"));
    struct pd_thread *thread = touch(pid, pid);
    struct pd_location *location = pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL,
                                              0xffffffffc0000010);
    CHECK_STR(symbol(location), "bpf_prog_1234_x");
    CHECK_U64(location->addr, 0x10);
    end();
}

/* ---- the kernel's table changes the maps when it is loaded */

static struct pd_thread *begin_hidden(void)
{
    end();
    begin();
    apply(build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0, 0, 0, "[kernel.kallsyms]_text"));
    return touch(pid, pid);
}

static void first_kernel_address_keeps_its_map(void)
{
    const uint64_t far = 0xffffffff93000000;
    begin();
    struct pd_thread *thread = begin_hidden();
    struct pd_location *first = pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, far);
    CHECK(first->map && !first->sym);
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, far) == first);
    thread = touch(pid, pid);
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, far)->map == NULL);
    CHECK_STR(symbol(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffff81000100)),
              "do_work");
    end();
}

/* Where a point is told it says what the location says; whether it is. */
static bool point_is_told(const struct pd_thread *thread, uint8_t mode, uint64_t ip)
{
    struct pd_point point;
    if (!pd_resolver_point(resolver, thread, now, mode, ip, &point))
        return false;
    const struct pd_location *location = pd_resolve(resolver, thread, now, mode, ip);
    const struct pd_symbol_span span = pd_resolver_span_of(resolver, &point);
    CHECK(point.map == location->map && span.symbol == location->sym);
    CHECK_U64(point.addr, location->addr);
    CHECK_U64(point.shown, mode == PD_CPUMODE_KERNEL ? ip : point.addr);
    return true;
}

static void points_are_told_of_the_kernel_alone(void)
{
    const uint64_t in_work = 0xffffffff81000150, in_program = 0xffffffffd0000010;
    begin();
    pd_resolver_by_object(resolver, true);
    struct pd_thread *thread = touch(pid, pid);
    CHECK(!point_is_told(thread, PD_CPUMODE_KERNEL, in_work)); /* its table is not there */
    pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, in_work);
    thread = touch(pid, pid);
    CHECK(point_is_told(thread, PD_CPUMODE_KERNEL, in_work));
    CHECK(point_is_told(thread, PD_CPUMODE_KERNEL, in_work + 0x38));
    CHECK(!point_is_told(thread, PD_CPUMODE_KERNEL, 0xffffffffc0000010)); /* a module's */
    CHECK(!point_is_told(thread, PD_CPUMODE_USER, 0x10010));              /* generated code */
    apply(build_ksymbol(in_program - 0x10, 0x20, 1, 0, "bpf_prog_1234_x"));
    apply(build_ksymbol(in_work + 0x30, 0x20, 1, 0, "bpf_prog_1234_y")); /* what was there wins */
    thread = touch(pid, pid);
    CHECK(!point_is_told(thread, PD_CPUMODE_KERNEL, in_program));
    CHECK(point_is_told(thread, PD_CPUMODE_KERNEL, in_work + 0x38));
    CHECK(point_is_told(thread, PD_CPUMODE_KERNEL, in_work));
    pd_resolver_by_object(resolver, false);
    CHECK(!point_is_told(thread, PD_CPUMODE_KERNEL, in_work));
    end();
}

static void front_says_which_sample_is_first(void)
{
    const uint64_t far = 0xffffffff93000000;
    begin();
    struct pd_thread *thread = begin_hidden();
    uint64_t first = now;
    CHECK(!pd_symbols_show_front(symbols, PD_CPUMODE_USER, 0x10010, first));
    CHECK(pd_symbols_show_front(symbols, PD_CPUMODE_KERNEL, far, first));
    touch(pid, pid);
    CHECK(pd_symbols_show_front(symbols, PD_CPUMODE_KERNEL, far, now));
    /* a worker may come to the later one first */
    CHECK(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, far)->map == NULL);
    CHECK(pd_resolve(resolver, thread, first, PD_CPUMODE_KERNEL, far)->map != NULL);
    end();
}

static void module_before_the_kernel_is_alone(void)
{
    begin();
    apply(build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0xffffffffc0000000, 0x1000, 0, "[mod]"));
    struct pd_thread *thread = touch(pid, pid);
    CHECK_STR(symbol(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffff81000100)),
              "do_work");
    struct pd_location *inside = pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL,
                                            0xffffffffc0000010);
    CHECK_STR(symbol(inside), "mod_start");
    CHECK_STR(inside->dso->short_name, "[mod]");
    end();
    begin();
    apply(build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0xffffffffc0000000, 0x1000, 0, "[mod]"));
    thread = touch(pid, pid);
    inside = pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffffc0000010);
    CHECK_STR(symbol(inside), "none");
    CHECK_STR(inside->dso->short_name, "[mod]");
    thread = touch(pid, pid);
    CHECK_STR(symbol(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffff81000100)),
              "do_work");
    CHECK_STR(symbol(pd_resolve(resolver, thread, now, PD_CPUMODE_KERNEL, 0xffffffffc0000010)),
              "none");
    end();
}

/* ---- chains */

static struct pd_frame frames[16];

static size_t chain(const uint64_t *ips, size_t count, unsigned max_stack, bool *invalid)
{
    struct pd_sample sample = { .callchain = (const uint8_t *)ips,
                                .callchain_count = (uint32_t)count };
    struct pd_thread *thread = touch(pid, pid);
    return pd_resolve_chain(resolver, &sample, thread, now, max_stack, frames, PD_LENGTH(frames),
                            invalid);
}

static void chain_follows_markers(void)
{
    static const uint64_t ips[] = {
        (uint64_t)-128, 0xffffffff81000104, 0xffffffff81000004, (uint64_t)-512, 0x10010, 0x10110
    };
    bool invalid;
    begin();
    CHECK_U64(chain(ips, PD_LENGTH(ips), 127, &invalid), 4);
    CHECK(!invalid);
    CHECK_STR(symbol(frames[0].location), "do_work");
    CHECK_STR(symbol(frames[1].location), "_text");
    CHECK_STR(symbol(frames[2].location), "jitted one");
    CHECK_STR(symbol(frames[3].location), "jitted two");
    /* addresses count, markers do not */
    CHECK_U64(chain(ips, PD_LENGTH(ips), 3, &invalid), 3);
    CHECK_U64(frames[2].ip, 0x10010);
    pd_resolver_from_caller(resolver, true);
    CHECK_U64(chain(ips, PD_LENGTH(ips), 127, &invalid), 4);
    CHECK_U64(frames[0].ip, 0xffffffff81000104);
    CHECK_STR(symbol(frames[0].location), "do_work");
    CHECK_U64(chain(ips, PD_LENGTH(ips), 3, &invalid), 3);
    CHECK_U64(frames[0].ip, 0xffffffff81000004);
    end();
}

static void chain_begins_as_user(void)
{
    static const uint64_t ips[] = { 0x10010, (uint64_t)-32, 0x10110 };
    bool invalid;
    begin();
    CHECK_U64(chain(ips, PD_LENGTH(ips), 127, &invalid), 2);
    CHECK_U64((uint64_t)frames[0].location->level, '.');
    CHECK_U64((uint64_t)frames[1].location->level, 'H');
    end();
}

static void call_stack_replaces_the_user_part(void)
{
    static const uint64_t ips[] = { (uint64_t)-128, 0xffffffff81000104, (uint64_t)-512, 0x10020 };
    static const uint64_t branches[] = { 0x10110, 0x10010, 0, 0x10210, 0x10100, 0 };
    struct pd_event event = { .attr.branch_sample_type = PD_BRANCH_SAMPLE_CALL_STACK };
    struct pd_sample sample = { .event = &event,
                                .callchain = (const uint8_t *)ips,
                                .callchain_count = PD_LENGTH(ips),
                                .branches = (const uint8_t *)branches,
                                .branch_count = 2 };
    static const uint64_t expected[] = { 0xffffffff81000104, 0x10010, 0x10110, 0x10210 };
    begin();
    struct pd_thread *thread = touch(pid, pid);
    for (int from_caller = 0; from_caller < 2; from_caller++) {
        bool invalid;
        pd_resolver_from_caller(resolver, from_caller);
        CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, PD_LENGTH(frames),
                                   &invalid),
                  4);
        for (size_t i = 0; i < PD_LENGTH(expected); i++)
            CHECK_U64(frames[i].ip, expected[i]);
    }
    event.attr.branch_sample_type = 0; /* branches that are no call stack */
    bool invalid;
    CHECK_U64(
        pd_resolve_chain(resolver, &sample, thread, now, 127, frames, PD_LENGTH(frames), &invalid),
        2);
    CHECK_U64(frames[1].ip, 0x10020);
    end();
}

/* arm64 records the link register beside the chain: the caller of a leaf, which has no frame. */
static void leaf_has_a_caller_on_arm64(void)
{
    static const uint64_t ips[] = { (uint64_t)-512, 0x10010, 0x10210, (uint64_t)-512, 0x10010 };
    static const uint64_t link = 0x10120, none = 0;
    static struct pd_features features = { .arch = { .present = true } };
    struct pd_event event = { .attr.sample_regs_user = UINT64_C(1) << 30 };
    struct pd_sample sample = { .event = &event,
                                .callchain = (const uint8_t *)ips,
                                .callchain_count = 3,
                                .user_regs = (const uint8_t *)&link };
    bool invalid;
    features.arch.text.text = "aarch64";
    begin_with(&features);
    struct pd_thread *thread = touch(pid, pid);
    for (int from_caller = 0; from_caller < 2; from_caller++) {
        pd_resolver_from_caller(resolver, from_caller);
        CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 3);
        CHECK_U64(frames[0].ip, 0x10010);
        CHECK_U64(frames[1].ip, 0x1011f); /* within the call */
        CHECK_STR(symbol(frames[1].location), "jitted two");
        CHECK_U64(frames[2].ip, 0x10210);
        CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 2, frames, 16, &invalid), 2);
        CHECK_U64(frames[1].ip, from_caller ? 0x10210 : 0x1011f);
    }
    /* Not the whole chain: perf adds it before the next frame only, unless it comes from the
     * caller. */
    sample.callchain += 3 * 8;
    sample.callchain_count = 2;
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
    pd_resolver_from_caller(resolver, false);
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 1);
    sample.callchain = (const uint8_t *)ips;
    sample.callchain_count = 3;
    sample.user_regs = (const uint8_t *)&none;
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
    sample.user_regs = (const uint8_t *)&link;
    event.attr.sample_regs_user |= 1; /* registers that were asked for: nothing is made of them */
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
    event.attr.sample_regs_user = UINT64_C(1) << 30;
    features.arch.text.text = "x86_64";
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
    end();
}

/* Where the user's stack was copied, the program's frames follow the kernel's: the first alone,
 * where no file says how to go on. */
static void copied_stack_is_unwound(void)
{
    static const uint64_t ips[] = { (uint64_t)-128, 0xffffffff81000104 };
    /* BP, SP, IP; the copy: a frame of the caller */
    static const uint64_t registers[] = { 0x7fff0008, 0x7fff0000, 0x10010 };
    static const uint64_t stack[] = { 0, 0x7fff0018, 0x10120, 0x1, 0x10230, 0, 0 };
    struct pd_event event = { .attr.sample_type = PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER,
                              .attr.sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8 };
    struct pd_sample sample = { .event = &event,
                                .callchain = (const uint8_t *)ips,
                                .callchain_count = 2,
                                .user_abi = 2,
                                .user_regs = (const uint8_t *)registers,
                                .stack = (const uint8_t *)stack,
                                .stack_size = sizeof stack,
                                .stack_dynamic_size = sizeof stack };
    static struct pd_features features;
    bool invalid;
    begin_with(&features);
    struct pd_thread *thread = touch(pid, pid);
    CHECK(pd_chain_has_more(&sample));
    features.arch.text.text =
        "x86_64"; /* named, but with no file of the process's that can be read */
    features.arch.present = true;
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 1);
    features.arch.present = false;
#if defined(__x86_64__)
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
    CHECK_U64(pd_chain_unwound(resolver), 1);
    CHECK_U64(frames[0].ip, 0xffffffff81000104);
    CHECK_U64(frames[1].ip, 0x10010);
    CHECK_STR(symbol(frames[1].location), "jitted one");
    sample.user_abi = 1; /* 32 bits: likewise */
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 2);
#endif
    sample.stack_dynamic_size = 0; /* nothing was copied */
    CHECK(!pd_chain_has_more(&sample));
    CHECK_U64(pd_resolve_chain(resolver, &sample, thread, now, 127, frames, 16, &invalid), 1);
    CHECK_U64(pd_chain_unwound(resolver), 0);
    end();
}

static void unknown_context_discards_the_chain(void)
{
    static const uint64_t ips[] = { (uint64_t)-512, 0x10010, (uint64_t)-2048, 0x10110 };
    bool invalid;
    begin();
    CHECK_U64(chain(ips, PD_LENGTH(ips), 127, &invalid), 0);
    CHECK(invalid);
    CHECK_U64(context.issue_count[PERFDATA_ISSUE_BAD_CALLCHAIN], 1);
    CHECK_U64(chain(ips, PD_LENGTH(ips), 1, &invalid), 1); /* not reached */
    CHECK(!invalid);
    pd_resolver_from_caller(resolver, true);
    CHECK_U64(chain(ips, PD_LENGTH(ips), 127, &invalid), 0);
    CHECK(invalid);
    end();
}

int main(void)
{
    pd_context_init(&context);
    pid = (uint32_t)getpid();
    snprintf(map_path, sizeof map_path, "/tmp/perf-%u.map", pid);
    snprintf(kallsyms_path, sizeof kallsyms_path, "/tmp/kallsyms-%u", pid);
    write_file(map_path, "10000 100 jitted one\n10100 100 jitted two\n");
    write_file(kallsyms_path,
               "ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 T next\n"
               "ffffffffc0000000 t mod_start\t[mod]\nffffffffc0000100 t mod_end\t[mod]\n");
    levels_follow_the_mode();
    branches_by_address();
    kernel_of_all_addresses_takes_branches();
    objects_share_their_locations();
    functions_have_one_location();
    samples_lie_elsewhere();
    kernel_samples_lie_elsewhere();
    unknown_thread_has_a_kernel();
    repeated_addresses_are_known();
    trim_bounds_the_cache();
    bpf_program_is_its_own_symbol();
    first_kernel_address_keeps_its_map();
    points_are_told_of_the_kernel_alone();
    front_says_which_sample_is_first();
    module_before_the_kernel_is_alone();
    chain_follows_markers();
    chain_begins_as_user();
    call_stack_replaces_the_user_part();
    leaf_has_a_caller_on_arm64();
    copied_stack_is_unwound();
    unknown_context_discards_the_chain();
    unlink(map_path);
    unlink(kallsyms_path);
    pd_context_fini(&context);
    return test_done();
}
