/* SPDX-License-Identifier: MIT */
/* Options of verbs that read a recording as a profile: which samples, how they are resolved.
 * A verb has a `struct tool_profile` as the member `profile` of its options. */
#ifndef PERFDATA_TOOL_PROFILE_H
#define PERFDATA_TOOL_PROFILE_H
#include "tool/input.h"
#include <perfdata/profile.h>

struct tool_profile {
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
    const char *comms, *pids, *tids, *cpus, *dsos, *symbols, *time, *stop;
    const char *guest_kallsyms, *guest_modules, *guest_vmlinux, *guest_mount;
    uint64_t address_range;
    unsigned max_stack;
    int guest_code, hide_chain, inlined, demangle, demangle_kernel;
};

#define TOOL_ROWS_PROFILE_INPUT                                                                    \
    TOOL_ROWS_SYMBOLS(profile.), TOOL_ROW_ITRACE,                                                  \
        { TOOL_FLAG,                                                                               \
          0,                                                                                       \
          "guest-code",                                                                            \
          NULL,                                                                                    \
          "code that runs in a guest is its hypervisor's",                                         \
          FIELD(profile.guest_code) },                                                             \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "guestkallsyms",                                                                         \
          "FILE",                                                                                  \
          "take guests' samples; the table of the kernel of the one that no pid names",            \
          FIELD(profile.guest_kallsyms) },                                                         \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "guestvmlinux",                                                                          \
          "FILE",                                                                                  \
          "take guests' samples; that kernel's image",                                             \
          FIELD(profile.guest_vmlinux) },                                                          \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "guestmodules",                                                                          \
          "FILE",                                                                                  \
          "take guests' samples; its modules",                                                     \
          FIELD(profile.guest_modules) },                                                          \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "guestmount",                                                                            \
          "DIR",                                                                                   \
          "take guests' samples; DIR/PID is the root of the one that PID is the hypervisor of",    \
          FIELD(profile.guest_mount) },                                                            \
        TOOL_ROWS_READING, TOOL_ROW_VERBOSE

#define TOOL_ROWS_PROFILE_CHAINS                                                                   \
    { TOOL_FLAG, 'G', "hide-call-graph", NULL, "without call chains", FIELD(profile.hide_chain) }, \
        { TOOL_UINT, 0, "max-stack", "N", "frames at most of a chain", FIELD(profile.max_stack) }, \
        { TOOL_STRING,        0, "stop-bt", "SYMBOL[,...]", "chains end at these symbols",         \
          FIELD(profile.stop) },                                                                   \
        TOOL_ROWS_NAMES(profile.)

#define TOOL_ROWS_PROFILE_SAMPLES                                                                  \
    { TOOL_STRING, 'c', "comms", "COMM[,...]", "keep these comms only", FIELD(profile.comms) },    \
        TOOL_ROWS_TASKS(profile.),                                                                 \
        { TOOL_STRING, 0, "dsos", "DSO[,...]", "keep these objects only", FIELD(profile.dsos) },   \
        { TOOL_STRING,                                                                             \
          'S',                                                                                     \
          "symbols",                                                                               \
          "SYMBOL[,...]",                                                                          \
          "keep samples in these symbols or at these addresses (hexadecimal)",                     \
          FIELD(profile.symbols) },                                                                \
        { TOOL_U64,                                                                                \
          0,                                                                                       \
          "addr-range",                                                                            \
          "N",                                                                                     \
          "with -S ADDRESS: bytes from the address",                                               \
          FIELD(profile.address_range) },                                                          \
        TOOL_ROW_TIME(profile.)

/* What is on by default. */
void tool_profile_defaults(struct tool_profile *options);
/* The same as the library takes them, with `flags` added; borrows from both arguments. */
struct perfdata_profile_options
tool_profile_options(const struct tool *tool, const struct tool_profile *options, uint32_t flags);

/* What is made of traces where --itrace does not say. */
void tool_profile_for_picture(const struct tool *tool, struct perfdata_profile_options *options);

#endif
