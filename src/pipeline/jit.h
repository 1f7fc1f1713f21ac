/* SPDX-License-Identifier: MIT */
/* Which jitdumps a recording names, and how their code becomes maps of its processes as time goes
 * on. */
#ifndef PD_PIPELINE_JIT_H
#define PD_PIPELINE_JIT_H
#include "base/hash.h"
#include "base/text.h"
#include "container/container.h"
#include "itrace/aux/tsc.h"
#include "object/jit/jitdump.h"

struct pd_timeline;

/* What the records seen so far say of dumps. All zero before. */
struct pd_jit_watch {
    struct pd_tsc_conversion conversion;
    bool has_conversion;
    struct pd_map64 pids; /* that have a dump */
};

enum pd_jit_verdict {
    PD_JIT_PASS,
    PD_JIT_DUMP,     /* this map says that *path is a dump */
    PD_JIT_ANONYMOUS /* memory of a process with a dump: what the dump says holds instead */
};

/* `path`, which ends with the record's bytes, is set with its length for PD_JIT_DUMP. */
enum pd_jit_verdict pd_jit_watch_record(struct pd_jit_watch *watch, const uint8_t *record,
                                        uint32_t size, uint32_t type, bool swap, const char **path,
                                        size_t *length);
/* Notes that the dump can be used: what it says holds for its processes' anonymous memory from now
 * on. False without memory. */
bool pd_jit_watch_take(struct pd_jit_watch *watch, const uint8_t *record, bool swap);
void pd_jit_watch_free(struct pd_jit_watch *watch);

/* The dump's machine and process become those of the recording and of the map that showed it. */
void pd_jit_watch_settle(const struct pd_recording *recording, const uint8_t *record,
                         struct pd_jitdump *dump);
/* Tells which records of a dump that was read were for another process. */
perfdata_status pd_jit_tell_strangers(struct pd_context *context, const struct pd_jitdump *dump,
                                      const char *path);
/* NULL, or why the dump's times are not those of the recording. */
const char *pd_jit_times_unusable(const struct pd_jit_watch *watch,
                                  const struct pd_recording *recording,
                                  const struct pd_jitdump *dump);
uint64_t pd_jit_time(const struct pd_jit_watch *watch, const struct pd_jitdump *dump,
                     uint64_t time);

/* ---- read in place ---- */

struct pd_jit;

/* `folder`: where the dumps lie now; "": where they were recorded, below `symfs` (NULL: none).
 * Strings are borrowed. NULL without memory. */
struct pd_jit *pd_jit_new(struct pd_recording *recording, struct pd_timeline *timeline,
                          const char *folder, const char *symfs);
void pd_jit_free(struct pd_jit *jit);
/* In delivery order, before the record acts: maps that are due appear. 1: the record is not to act
 * itself. */
int pd_jit_deliver(struct pd_jit *jit, const uint8_t *record, uint32_t size, uint32_t type,
                   uint64_t time, uint64_t number);

#endif
