/* SPDX-License-Identifier: MIT */
/* Each rule of the timeline, by the name of the function that checks it. */
#include "build_record.h"
#include "format/features.h"
#include "model/model.h"
#include "test.h"

static struct pd_context context;
static struct pd_timeline *timeline;
static uint64_t now;

static void begin(void)
{
    timeline = pd_timeline_new(&context, NULL, false);
    now = 0;
    CHECK(timeline != NULL);
}

static void end(void)
{
    pd_timeline_free(timeline);
    timeline = NULL;
}

static uint64_t apply(struct built record)
{
    CHECK_U64((uint64_t)pd_timeline_apply(timeline, NULL, record.bytes, record.size, ++now), 0);
    return now;
}

static struct pd_thread *touch(uint32_t pid, uint32_t tid)
{
    return pd_timeline_touch(timeline, pid, tid, ++now);
}

static const char *comm(const struct pd_thread *thread, uint64_t number)
{
    return pd_comm_text(pd_thread_comm(thread, number), number);
}

static const char *dso_at(const struct pd_thread *thread, uint64_t number, uint64_t ip)
{
    const struct pd_map *map = pd_thread_map(thread, number, ip);
    return map ? map->dso->name : "none";
}

/* What the next sample of the thread sees. */
static const char *next_dso(uint32_t pid, uint32_t tid, uint64_t ip)
{
    const struct pd_thread *thread = touch(pid, tid);
    return dso_at(thread, now, ip);
}

static const char *next_comm(uint32_t pid, uint32_t tid)
{
    const struct pd_thread *thread = touch(pid, tid);
    return comm(thread, now);
}

enum { USER = PD_CPUMODE_USER, KERNEL = PD_CPUMODE_KERNEL };

static void idle_is_swapper(void)
{
    begin();
    struct pd_thread *thread = touch(0, 0);
    CHECK_STR(comm(thread, now), "swapper");
    CHECK_U64(pd_thread_pid(thread, now), 0);
    end();
}

static void default_name_replaced(void)
{
    begin();
    struct pd_thread *thread = touch(5, 5);
    uint64_t before = now;
    CHECK_STR(comm(thread, before), ":5");
    uint64_t at = apply(build_comm(0, 5, 5, "first"));
    uint64_t then = apply(build_comm(0, 5, 5, "second"));
    CHECK_STR(comm(thread, before), ":5");
    CHECK_STR(comm(thread, at), "first");
    CHECK_STR(comm(thread, then), "second");
    const struct pd_comm *object = pd_thread_comm(thread, before);
    CHECK(object == pd_thread_comm(thread, at)); /* one object, its text replaced */
    CHECK_STR(pd_comm_final_text(object), "first");
    CHECK(pd_thread_comm(thread, then) != object);
    CHECK_U64(pd_timeline_touch(timeline, UINT32_MAX, UINT32_MAX, ++now)->tid, UINT32_MAX);
    end();
}

static void comm_holds_at_its_own_number(void)
{
    begin();
    apply(build_comm(0, 7, 7, "a"));
    uint64_t at = apply(build_comm(PD_MISC_COMM_EXEC, 7, 7, "b"));
    struct pd_thread *thread = pd_timeline_find(timeline, 7);
    CHECK_STR(comm(thread, at - 1), "a");
    CHECK_STR(comm(thread, at), "b");
    CHECK(pd_thread_comm(thread, at)->exec);
    CHECK(pd_thread_comm(thread, at) == pd_thread_comm(thread, at + 100));
    /* equal texts are one pointer */
    apply(build_comm(0, 8, 8, "b"));
    CHECK(comm(thread, now) == comm(pd_timeline_find(timeline, 8), now));
    end();
}

static void pid_unknown_then_known(void)
{
    begin();
    apply(build_mmap(USER, 30, 30, 0x1000, 0x1000, 0, "/lib/a"));
    struct pd_thread *thread = touch(UINT32_MAX, 31);
    uint64_t before = now;
    CHECK_U64(pd_thread_pid(thread, before), UINT32_MAX);
    CHECK_STR(dso_at(thread, before, 0x1000), "none");
    CHECK(touch(30, 31) == thread);
    CHECK_U64(pd_thread_pid(thread, now), 30);
    CHECK_U64(pd_thread_pid(thread, before), UINT32_MAX);
    CHECK_STR(dso_at(thread, now, 0x1000), "/lib/a");
    CHECK_STR(dso_at(thread, before, 0x1000), "none");
    touch(99, 31); /* a known pid stays */
    CHECK_U64(pd_thread_pid(thread, now), 30);
    end();
}

static void threads_share_maps(void)
{
    begin();
    struct pd_thread *leader = touch(40, 40), *other = touch(40, 41);
    apply(build_mmap(USER, 40, 41, 0x1000, 0x1000, 0, "/lib/a"));
    touch(40, 40);
    CHECK_STR(dso_at(leader, now, 0x1fff), "/lib/a");
    CHECK_STR(dso_at(other, now, 0x1fff), "/lib/a");
    CHECK_STR(dso_at(other, now, 0x2000), "none");
    CHECK_U64(pd_thread_maps_stamp(leader, now), pd_thread_maps_stamp(other, now));
    end();
}

static void fork_copies_maps(void)
{
    begin();
    apply(build_comm(0, 50, 50, "parent"));
    apply(build_mmap(USER, 50, 50, 0x1000, 0x1000, 0, "/lib/a"));
    uint64_t at = apply(build_task(PD_RECORD_FORK, 0, 51, 50, 51, 50));
    struct pd_thread *parent = touch(50, 50), *child = touch(51, 51);
    CHECK_STR(comm(child, at), "parent");
    CHECK_U64(pd_thread_ppid(child, at), 50);
    CHECK_STR(dso_at(child, now, 0x1000), "/lib/a");
    /* shared until one of them changes */
    CHECK_U64(pd_thread_maps_stamp(child, now), pd_thread_maps_stamp(parent, now));
    apply(build_mmap(USER, 51, 51, 0x1000, 0x1000, 0, "/lib/b"));
    touch(51, 51);
    CHECK_STR(dso_at(child, now, 0x1000), "/lib/b");
    CHECK_STR(dso_at(child, now - 2, 0x1000), "/lib/a");
    CHECK_STR(dso_at(parent, now, 0x1000), "/lib/a");
    CHECK(pd_thread_maps_stamp(child, now) != pd_thread_maps_stamp(parent, now));
    end();
}

static void synthesized_fork_copies_no_maps(void)
{
    begin();
    apply(build_mmap(USER, 50, 50, 0x1000, 0x1000, 0, "/lib/a"));
    apply(build_task(PD_RECORD_FORK, PD_MISC_FORK_EXEC, 51, 50, 51, 50));
    CHECK_STR(next_dso(51, 51, 0x1000), "none");
    end();
}

static void fork_of_unnamed_parent_keeps_default(void)
{
    begin();
    touch(60, 60);
    apply(build_task(PD_RECORD_FORK, 0, 61, 60, 61, 60));
    CHECK_STR(next_comm(61, 61), ":61");
    end();
}

static void fork_parent_pid_mismatch(void)
{
    /* A sample 99/30 came first; then COMM 8/30 "thr" and the fork of 31 by 8/30. */
    begin();
    struct pd_thread *early = touch(99, 30);
    apply(build_comm(0, 8, 30, "thr"));
    CHECK(pd_timeline_find(timeline, 30) == early);
    CHECK_U64(pd_thread_pid(early, now), 99);
    apply(build_task(PD_RECORD_FORK, 0, 8, 8, 31, 30));
    struct pd_thread *parent = pd_timeline_find(timeline, 30);
    CHECK(parent != early);
    CHECK(!pd_thread_current(early));
    CHECK_U64(pd_thread_pid(parent, now), 8);
    CHECK_STR(next_comm(8, 31), ":31");
    end();
    begin(); /* without it the child is named as its parent */
    apply(build_comm(0, 8, 30, "thr"));
    apply(build_task(PD_RECORD_FORK, 0, 8, 8, 31, 30));
    CHECK_STR(next_comm(8, 31), "thr");
    end();
}

static void fork_replaces_old_thread(void)
{
    begin();
    apply(build_comm(0, 70, 70, "old"));
    apply(build_mmap(USER, 70, 70, 0x1000, 0x1000, 0, "/lib/old"));
    struct pd_thread *old = touch(70, 70);
    uint64_t then = now;
    apply(build_task(PD_RECORD_EXIT, 0, 70, 1, 70, 1));
    CHECK(touch(70, 70) == old); /* an exit changes nothing */
    apply(build_comm(0, 1, 1, "init"));
    apply(build_task(PD_RECORD_FORK, 0, 70, 1, 70, 1));
    struct pd_thread *young = touch(70, 70);
    CHECK(young != old);
    CHECK_STR(comm(young, now), "init");
    CHECK_STR(dso_at(young, now, 0x1000), "none");
    CHECK_STR(dso_at(old, then, 0x1000), "/lib/old");
    pd_timeline_retire(timeline, now);
    CHECK_STR(dso_at(old, then, 0x1000), "none");
    end();
}

static void exited_threads_removed_on_demand(void)
{
    begin();
    pd_timeline_remove_exited(timeline);
    apply(build_mmap(USER, 70, 70, 0x1000, 0x1000, 0, "/lib/old"));
    struct pd_thread *old = touch(70, 70), *other = touch(70, 71);
    apply(build_task(PD_RECORD_EXIT, 0, 70, 1, 70, 1));
    CHECK(pd_timeline_find(timeline, 70) == NULL);
    CHECK(touch(70, 70) != old);
    CHECK_STR(next_dso(70, 70, 0x1000), "none");
    CHECK_STR(dso_at(other, now, 0x1000), "/lib/old"); /* held by the thread that is left */
    end();
}

static void fork_by_itself(void)
{
    begin();
    touch(99, 80);
    apply(build_task(PD_RECORD_FORK, 0, 81, 82, 80, 80)); /* parent and child are the same tid */
    CHECK(touch(81, 80) != NULL);
    apply(build_task(PD_RECORD_FORK, 0, 80, 80, 80, 80));
    CHECK(touch(80, 80) != NULL);
    end();
}

static void exec_keeps_maps(void)
{
    begin();
    apply(build_mmap(USER, 90, 90, 0x1000, 0x3000, 0, "/bin/old"));
    apply(build_comm(PD_MISC_COMM_EXEC, 90, 90, "new"));
    apply(build_mmap(USER, 90, 90, 0x2000, 0x1000, 0, "/bin/new"));
    struct pd_thread *thread = touch(90, 90);
    CHECK_STR(dso_at(thread, now, 0x1000), "/bin/old");
    CHECK_STR(dso_at(thread, now, 0x2000), "/bin/new");
    CHECK_STR(dso_at(thread, now, 0x3000), "/bin/old");
    end();
}

static void later_map_cuts_older(void)
{
    begin();
    apply(build_mmap(USER, 90, 90, 0x10000, 0x10000, 0x5000, "/lib/a"));
    apply(build_mmap(USER, 90, 90, 0x14000, 0x2000, 0, "/lib/b"));
    struct pd_thread *thread = touch(90, 90);
    const struct pd_map *before = pd_thread_map(thread, now, 0x13fff);
    const struct pd_map *after = pd_thread_map(thread, now, 0x16000);
    CHECK_U64(before->end, 0x14000);
    CHECK_U64(before->pgoff, 0x5000);
    CHECK_U64(after->start, 0x16000);
    CHECK_U64(after->end, 0x20000);
    CHECK_U64(after->pgoff, 0x5000 + 0x6000);
    CHECK_U64(pd_map_address(after, 0x16010), 0xb010);
    CHECK_STR(dso_at(thread, now, 0x15fff), "/lib/b");
    end();
}

static void version_arises_at_look_up(void)
{
    begin();
    struct pd_thread *thread = touch(90, 90);
    uint64_t empty = now;
    for (uint64_t i = 0; i < 10; i++)
        apply(build_mmap(USER, 90, 90, 0x1000 * i, 0x1000, 0, "/lib/a"));
    touch(90, 90);
    uint64_t first = pd_thread_maps_stamp(thread, now);
    touch(90, 90);
    CHECK_U64(pd_thread_maps_stamp(thread, now), first);
    CHECK(pd_thread_maps_stamp(thread, empty) != first);
    CHECK(pd_thread_maps_stamp(thread, empty) != 0);
    apply(build_mmap(USER, 90, 90, 0x1000, 0x1000, 0, "/lib/b"));
    touch(90, 90);
    CHECK(pd_thread_maps_stamp(thread, now) != first);
    end();
}

static void jit_map_identity(void)
{
    begin();
    struct built_file executable = { .prot = 5 }, data = { .prot = 3 };
    apply(build_mmap2(USER, 100, 101, 0x7000, 0x1000, 0x30, executable, "//anon"));
    apply(build_mmap2(USER, 100, 100, 0x9000, 0x1000, 0, data, "//anon"));
    apply(build_mmap2(USER, 100, 100, 0xa000, 0x1000, 0, data, "[heap]"));
    struct pd_thread *thread = touch(100, 100);
    const struct pd_map *map = pd_thread_map(thread, now, 0x7123);
    CHECK_U64(pd_map_address(map, 0x7123), 0x7123);
    CHECK_STR(map->dso->name, "/tmp/perf-100.map");
    CHECK_STR(map->dso->short_name, "[JIT] tid 100");
    CHECK_U64(map->dso->kind, PD_DSO_PERF_MAP);
    map = pd_thread_map(thread, now, 0x9000);
    CHECK_STR(map->dso->long_name, "//anon");
    CHECK_STR(map->dso->short_name, "anon");
    CHECK_U64(map->dso->kind, PD_DSO_NO_FILE);
    CHECK_STR(dso_at(thread, now, 0xa000), "[heap]");
    end();
}

static void vdso_has_no_offset(void)
{
    begin();
    struct built_file file = { .prot = 5 };
    apply(build_mmap2(USER, 100, 100, 0x7000, 0x1000, 0x800, file, "[vdso]"));
    struct pd_thread *thread = touch(100, 100);
    const struct pd_map *map = pd_thread_map(thread, now, 0x7010);
    CHECK_U64(pd_map_address(map, 0x7010), 0x10);
    CHECK_U64(map->dso->kind, PD_DSO_VDSO);
    end();
}

static void same_name_other_file(void)
{
    begin();
    struct built_file one = { 8, 1, 100, 5, 5, 0 }, other = { 8, 1, 200, 6, 5, 0 },
                      synthesized = { 8, 1, 100, 0, 5, 0 };
    apply(build_mmap2(USER, 1, 1, 0x1000, 0x1000, 0, one, "/lib/x"));
    apply(build_mmap2(USER, 1, 1, 0x2000, 0x1000, 0, other, "/lib/x"));
    apply(build_mmap2(USER, 1, 1, 0x3000, 0x1000, 0, synthesized, "/lib/x"));
    apply(build_mmap(USER, 1, 1, 0x4000, 0x1000, 0, "/lib/x"));
    struct pd_thread *thread = touch(1, 1);
    const struct pd_dso *a = pd_thread_map(thread, now, 0x1000)->dso;
    const struct pd_dso *b = pd_thread_map(thread, now, 0x2000)->dso;
    CHECK(a != b);
    CHECK_U64(a->short_name_id, b->short_name_id);
    CHECK(pd_thread_map(thread, now, 0x3000)->dso == a);
    CHECK(pd_thread_map(thread, now, 0x4000)->dso == a);
    CHECK_U64(pd_timeline_dso_count(timeline), 2);
    end();
}

static const struct pd_map *kernel_at(uint64_t ip)
{
    touch(0, 0);
    return pd_timeline_kernel_map(timeline, now, ip);
}

static void kernel_reloc(void)
{
    begin();
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
                     "[kernel.kallsyms]_text"));
    const struct pd_map *map = kernel_at(0xffffffff81000010);
    CHECK(map && map->main_kernel && map->identity);
    CHECK_STR(map->dso->name, "[kernel.kallsyms]");
    CHECK_STR(map->reloc_name, "_text");
    CHECK_U64(map->reloc, 0xffffffff81000000);
    CHECK(kernel_at(0xffffffff82000000) == NULL);
    CHECK_STR(next_dso(0, 0, 0xffffffff81000010), "none");
    end();
}

static void hidden_kernel_covers_everything(void)
{
    begin();
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0, 0, 0, "[kernel.kallsyms]_text"));
    const struct pd_map *map = kernel_at(0xffffffff81000010);
    CHECK(map && !map->reloc_name);
    end();
}

static void second_kernel_replaces_first(void)
{
    begin();
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0x1000, 0x1000, 1, "[kernel.kallsyms]_text"));
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0x8000, 0x1000, 0, "[m]"));
    touch(0, 0);
    uint64_t first = pd_timeline_kernel_stamp(timeline, now);
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0x4000, 0x8000, 1, "[kernel.kallsyms]_text"));
    CHECK(kernel_at(0x1000) == NULL);
    CHECK_STR(kernel_at(0x4000)->dso->name, "[kernel.kallsyms]");
    CHECK_STR(kernel_at(0x8000)->dso->name, "[m]");
    CHECK_STR(kernel_at(0x9000)->dso->name, "[kernel.kallsyms]");
    CHECK(pd_timeline_kernel_stamp(timeline, now) != first);
    end();
}

static void module_short_name(void)
{
    begin();
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0xffffffffc0000000, 0x4000, 0,
                     "/lib/modules/6.1.0-9-amd64/kernel/sound/core/snd-pcm.ko"));
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0xffffffffc0010000, 0x4000, 0, "[plain_one]"));
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0xffffffffc0020000, 0x4000, 0,
                     "/lib/modules/x/a-b.ko.xz"));
    const struct pd_map *map = kernel_at(0xffffffffc0000010);
    CHECK_STR(map->dso->short_name, "[snd_pcm]");
    CHECK_STR(map->dso->long_name, "/lib/modules/6.1.0-9-amd64/kernel/sound/core/snd-pcm.ko");
    CHECK_U64(map->dso->kind, PD_DSO_MODULE);
    CHECK_U64(pd_map_address(map, 0xffffffffc0000010), 0x10);
    CHECK_STR(kernel_at(0xffffffffc0010000)->dso->short_name, "[plain_one]");
    CHECK_STR(kernel_at(0xffffffffc0020000)->dso->short_name, "[a_b]");
    end();
}

static void ksymbol_adds_and_removes(void)
{
    begin();
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0xffffffff81000000, 0x1000000, 1,
                     "[kernel.kallsyms]_text"));
    apply(build_ksymbol(0xffffffffc0000000, 0x100, 1, 0, "bpf_prog_1234_x"));
    const struct pd_map *map = kernel_at(0xffffffffc0000080);
    uint64_t then = now;
    CHECK_STR(map->dso->short_name, "bpf_prog_1234_x");
    CHECK_U64(map->dso->symbol_size, 0x100);
    CHECK(!map->dso->listed);
    apply(build_ksymbol(0xffffffffc0000000, 0x100, 1, 1, "bpf_prog_1234_x"));
    CHECK(kernel_at(0xffffffffc0000080) == NULL);
    CHECK(pd_timeline_kernel_map(timeline, then, 0xffffffffc0000080) == map);
    apply(build_ksymbol(0xffffffff81000000, 0x100, 2, 1, "in the kernel"));
    CHECK(kernel_at(0xffffffff81000000) != NULL);
    end();
}

static void cgroup_first_path_stays(void)
{
    begin();
    CHECK(pd_timeline_cgroup(timeline, now, 5) == NULL);
    uint64_t at = apply(build_cgroup(5, "/a"));
    apply(build_cgroup(5, "/b"));
    CHECK_STR(pd_timeline_cgroup(timeline, at, 5), "/a");
    CHECK(pd_timeline_cgroup(timeline, at - 1, 5) == NULL);
    CHECK_STR(pd_timeline_cgroup(timeline, now, 5), "/a");
    end();
}

/* The kernel marks some records with MMAP_BUILD_ID that hold device and inode. */
static void marked_without_build_id(void)
{
    const uint16_t marked = USER | PD_MISC_MMAP_BUILD_ID;
    struct built_file files[] = { { 254, 1, 100, 5, 5, 0 },
                                  { 0, 45, 100, 0, 5, 0 },
                                  { 8, 1, 100, 5, 5, 0 },
                                  { 7, 1, 100, 0, 5, 0 },
                                  { 259, 1, 100, 0, 5, 0 } };
    begin();
    apply(build_mmap2(USER, 1, 1, 0x1000, 0x1000, 0, files[0], "/lib/x"));
    apply(build_mmap2(marked, 1, 1, 0x2000, 0x1000, 0, files[0], "/lib/x"));
    for (uint64_t i = 1; i < PD_LENGTH(files); i++)
        apply(build_mmap2(marked, 1, 1, 0x2000 + 0x1000 * i, 0x1000, 0, files[i], "/lib/x"));
    /* bytes of a build-id, of 20 and of 8 */
    struct built_file twenty = { 20, 0x01020304, 0x05060708090a0b0c, 0x0d0e0f1011121314, 5, 0 },
                      eight = { 8, 0x01020304, 0x05060708, 0, 5, 0 };
    apply(build_mmap2(marked, 1, 1, 0x8000, 0x1000, 0, twenty, "/lib/y"));
    apply(build_mmap2(marked, 1, 1, 0x9000, 0x1000, 0, eight, "/lib/z"));
    struct pd_thread *thread = touch(1, 1);
    CHECK(pd_thread_map(thread, now, 0x1000)->dso == pd_thread_map(thread, now, 0x2000)->dso);
    for (uint64_t i = 0; i < PD_LENGTH(files); i++)
        CHECK_U64(pd_thread_map(thread, now, 0x2000 + 0x1000 * i)->dso->build_id_size, 0);
    CHECK_U64(pd_thread_map(thread, now, 0x8000)->dso->build_id_size, 20);
    CHECK_U64(pd_thread_map(thread, now, 0x9000)->dso->build_id_size, 8);
    end();
}

static void build_ids_are_inherited_by_name(void)
{
    struct pd_part_build_id_entry entries[3] = {
        { .misc = USER, .pid = UINT32_MAX, .filename = { "/lib/x", 6 } },
        { .misc = KERNEL, .pid = UINT32_MAX, .filename = { "[kernel.kallsyms]", 17 } },
        { .misc = KERNEL, .pid = UINT32_MAX, .filename = { "/lib/modules/1/snd-pcm.ko", 25 } },
    };
    for (size_t i = 0; i < 3; i++)
        memset(entries[i].build_id, (int)i + 1, sizeof entries[i].build_id);
    struct pd_features features = { .build_id = {
                                        .present = true, .entries = entries, .entries_count = 3 } };
    timeline = pd_timeline_new(&context, &features, false);
    now = 0;
    struct built_file one = { 8, 1, 100, 5, 5, 0 }, other = { 8, 1, 200, 6, 5, 0 };
    apply(build_mmap2(USER, 1, 1, 0x1000, 0x1000, 0, one, "/lib/x"));
    apply(build_mmap2(USER, 1, 1, 0x2000, 0x1000, 0, other, "/lib/x"));
    struct pd_thread *thread = touch(1, 1);
    const struct pd_dso *a = pd_thread_map(thread, now, 0x1000)->dso;
    const struct pd_dso *b = pd_thread_map(thread, now, 0x2000)->dso;
    CHECK_U64(a->index, 0);
    CHECK_U64(b->index, 3);
    CHECK_U64(b->build_id_size, 20);
    CHECK_U64(b->build_id[19], 1);
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0x10000, 0x1000, 1, "[kernel.kallsyms]_stext"));
    apply(build_mmap(KERNEL, UINT32_MAX, 0, 0x20000, 0x1000, 0, "/lib/modules/1/snd-pcm.ko"));
    CHECK_U64(kernel_at(0x10000)->dso->index, 1);
    CHECK_U64(kernel_at(0x20000)->dso->index, 2);
    CHECK_STR(kernel_at(0x20000)->dso->short_name, "[snd_pcm]");
    end();
}

static void damaged_records_are_counted(void)
{
    begin();
    struct built record = build_mmap(USER, 1, 1, UINT64_MAX - 10, 0x1000, 0, "/lib/x");
    CHECK_U64((uint64_t)pd_timeline_apply(timeline, NULL, record.bytes, record.size, ++now), 0);
    CHECK_U64(context.issue_count[PERFDATA_ISSUE_BAD_RECORD], 1);
    pd_store16(record.bytes + 6, 24, false);
    CHECK_U64((uint64_t)pd_timeline_apply(timeline, NULL, record.bytes, 24, ++now), 0);
    CHECK_U64(context.issue_count[PERFDATA_ISSUE_BAD_RECORD], 2);
    end();
}

int main(void)
{
    pd_context_init(&context);
    idle_is_swapper();
    default_name_replaced();
    comm_holds_at_its_own_number();
    pid_unknown_then_known();
    threads_share_maps();
    fork_copies_maps();
    synthesized_fork_copies_no_maps();
    fork_of_unnamed_parent_keeps_default();
    fork_parent_pid_mismatch();
    fork_replaces_old_thread();
    exited_threads_removed_on_demand();
    fork_by_itself();
    exec_keeps_maps();
    later_map_cuts_older();
    version_arises_at_look_up();
    jit_map_identity();
    vdso_has_no_offset();
    same_name_other_file();
    kernel_reloc();
    hidden_kernel_covers_everything();
    second_kernel_replaces_first();
    module_short_name();
    ksymbol_adds_and_removes();
    cgroup_first_path_stays();
    marked_without_build_id();
    build_ids_are_inherited_by_name();
    damaged_records_are_counted();
    pd_context_fini(&context);
    return test_done();
}
