/* SPDX-License-Identifier: MIT */
/* Issue 27: frames of many stacks at once, and frames column by column, are those that are given
 * one by one. */
#include "test.h"
#include <perfdata/perfdata.h>

#define MOST 4096

static perfdata_profile *build(void)
{
    char path[512], symfs[512];
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile = NULL;
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/demo/shapes.data", source);
    snprintf(symfs, sizeof symfs, "%s/tests/data/demo/symfs", source);
    options.flags = PERFDATA_PROFILE_LINES;
    options.detail = PERFDATA_FRAMES_BY_ADDRESS;
    options.search.symfs = symfs;
    CHECK_U64((uint64_t)perfdata_recording_open(path, NULL, &recording), 0);
    CHECK_U64((uint64_t)perfdata_profile_build(recording, &options, &profile), 0);
    perfdata_recording_close(recording);
    return profile;
}

static void test_stacks(const perfdata_profile *profile)
{
    static uint32_t stacks[MOST], frames[MOST * 64];
    static uint64_t ends[MOST], ends_alone[MOST];
    uint32_t count = perfdata_profile_stack_count(profile);
    CHECK(count > 10 && count + 2 < MOST);
    for (uint32_t i = 0; i < count; i++)
        stacks[i] = count - 1 - i;
    stacks[count] = count; /* there is none of this number */
    stacks[count + 1] = PERFDATA_NONE;
    size_t asked = count + 2;
    uint64_t need = perfdata_profile_stack_frames(profile, stacks, asked, ends_alone, NULL, 0);
    CHECK(need > count && need < MOST * 64);
    memset(frames, 0xfe, sizeof frames);
    CHECK_U64(perfdata_profile_stack_frames(profile, stacks, asked, ends, frames, need - 1), need);
    CHECK_U64(frames[0], 0xfefefefe); /* too small a room is left alone */
    CHECK_U64(perfdata_profile_stack_frames(profile, stacks, asked, ends, frames, need), need);
    CHECK(!memcmp(ends, ends_alone, asked * sizeof *ends));
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t id = stacks[i]; id != PERFDATA_NONE;) {
            const struct perfdata_profile_stack *stack = perfdata_profile_stack(profile, id);
            CHECK_U64(frames[at++], stack->frame);
            id = stack->parent;
        }
        CHECK_U64(ends[i], at);
    }
    CHECK_U64(at, need);
    CHECK_U64(ends[count], need);
    CHECK_U64(ends[count + 1], need);
    CHECK_U64(frames[need], 0xfefefefe);
}

static void test_frames(const perfdata_profile *profile)
{
    static uint32_t functions[MOST], lines[MOST];
    static uint64_t addresses[MOST];
    static const char *files[MOST];
    uint32_t count = perfdata_profile_frame_count(profile), with_file = 0;
    CHECK(count > 10 && count < MOST);
    CHECK_U64(perfdata_profile_frame_columns(profile, 1, MOST, functions, lines, addresses, files),
              count - 1);
    for (uint32_t i = 1; i < count; i++) {
        const struct perfdata_profile_frame *frame = perfdata_profile_frame(profile, i);
        CHECK_U64(functions[i - 1], frame->function);
        CHECK_U64(lines[i - 1], frame->line);
        CHECK_U64(addresses[i - 1], frame->address);
        CHECK(files[i - 1] == frame->file);
        with_file += frame->file != NULL;
        for (uint32_t other = 1; frame->file && other < i; other++)
            CHECK(!files[other - 1] || files[other - 1] == frame->file ||
                  strcmp(files[other - 1], frame->file) != 0);
    }
    CHECK(with_file > 10);
    lines[1] = 77;
    CHECK_U64(perfdata_profile_frame_columns(profile, 0, 1, NULL, lines, NULL, NULL), 1);
    CHECK_U64(lines[0], perfdata_profile_frame(profile, 0)->line);
    CHECK_U64(lines[1], 77);
    CHECK_U64(perfdata_profile_frame_columns(profile, count, 1, NULL, lines, NULL, NULL), 0);
    CHECK_U64(perfdata_profile_frame_columns(profile, PERFDATA_NONE, 1, NULL, lines, NULL, NULL),
              0);
}

int main(void)
{
    perfdata_profile *profile = build();
    test_stacks(profile);
    test_frames(profile);
    perfdata_profile_free(profile);
    return test_done();
}
