/* SPDX-License-Identifier: MIT */
/* The layer convert/: a profile -> a form of another tool. Each form has a file and a row of
 * formats.def. */
#ifndef PD_CONVERT_H
#define PD_CONVERT_H
#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "profile/profile.h"
#include <perfdata/export.h>

struct pd_convert;

/* A form of output. Its functions return a status; what they write goes through
 * pd_convert_flush(). */
struct pd_format {
    uint32_t flags;         /* enum perfdata_format_flags */
    uint32_t export_flags;  /* enum perfdata_export_flags that it heeds beside COUNT */
    uint32_t profile_flags; /* for the profile that it is made from */
    uint32_t detail;        /* of its frames, unless the caller wants another */
    uint32_t columns;
    /* Before the first sample; NULL: nothing to do. */
    perfdata_status (*begin)(struct pd_convert *x);
    /* For forms that show single samples: takes a run of them. */
    perfdata_status (*samples)(struct pd_convert *x, const struct perfdata_samples *samples);
    /* For forms that can write a profile in parts: takes the sums and stacks so far, which are then
     * forgotten, as those are that `end` finds; see struct pd_profile_bounds. NULL: `end` needs all
     * of them. */
    perfdata_status (*part)(struct pd_convert *x, bool frames);
    /* The profile is complete. */
    perfdata_status (*end)(struct pd_convert *x);
    void (*free)(struct pd_convert *x); /* of x->state; NULL: free() does */
    /* Forms made from the recording itself (direct.h) set this, and of the above nothing but the
     * flags. */
    perfdata_status (*run)(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result);
    /* PERFDATA_FORMAT_FOLDER: whether a file of that name is one of the form's. */
    bool (*is_part)(const char *file);
};

/* perfdata_export_run() within bounds, of which the form sets `take` and `data`. */
perfdata_status pd_export_run(perfdata_recording *recording, const char *format,
                              const struct perfdata_export_options *options,
                              const struct pd_profile_bounds *bounds, perfdata_write_fn write,
                              void *data, struct perfdata_export_result *result);
/* NULL: there is no form of that name. */
const struct pd_format *pd_format_find(const char *name);

struct pd_convert {
    const struct pd_format *format;
    struct pd_recording *recording;  /* NULL: only a profile is there */
    const perfdata_profile *profile; /* while samples come, as far as it is */
    const struct perfdata_export_options *options;
    struct pd_context *context;
    struct pd_text out;
    perfdata_write_fn write;
    void *write_data;
    bool *events; /* those that are wanted, by number */
    void *state;  /* the form's */
    perfdata_status status;
    char reason[sizeof((struct pd_context *)0)->message]; /* of a status below 0 */
};

perfdata_status pd_convert_no_memory(struct pd_convert *x);
/* Hands what was written to the caller once there is much of it; `all`: in any case. */
perfdata_status pd_convert_flush(struct pd_convert *x, bool all);
/* A table begins, to which all that is written from here on belongs. False in *wanted: the caller
 * has no use for it. */
perfdata_status pd_convert_table(struct pd_convert *x, const char *name, bool *wanted);

PD_INLINE uint64_t pd_convert_weight(const struct pd_convert *x, uint64_t count, uint64_t weight)
{
    return x->options->flags & PERFDATA_EXPORT_COUNT ? count : weight;
}

/* Sets x->events from options->events; called before the first of the form's functions, except
 * run(), which calls it itself. */
perfdata_status pd_convert_choose_events(struct pd_convert *x);
/* How many wanted events have samples; *only becomes the event if there is just one, else
 * PERFDATA_NONE. */
uint32_t pd_convert_event_count(const struct pd_convert *x, uint32_t *only);

/* ---- names ---- */

/* Bytes that no text may hold are written \xNN: control characters, what is not UTF-8, and the
 * backslash before an x. */
void pd_convert_name(struct pd_text *out, const char *name, size_t length);

/* A function's name; unknown functions are shown by their object, in brackets. */
void pd_convert_function(const struct pd_convert *x, uint32_t function, struct pd_text *out);
/* The same with all its bytes, and as a JSON string in which bytes that are no UTF-8 remain
 * recognisable. */
void pd_convert_raw_function(const struct pd_convert *x, uint32_t function, struct pd_text *out);
void pd_convert_json_function(const struct pd_convert *x, uint32_t function, struct pd_text *out);
void pd_convert_json(struct pd_text *out, const char *text);
/* The unit of an event's weights: "nanoseconds" or "count". */
const char *pd_convert_unit(const struct perfdata_profile_event *event);

/* A piece of text for each function, written once. */
struct pd_convert_names {
    struct pd_text text;
    PD_VEC(size_t) ends;
};
perfdata_status pd_convert_names_make(struct pd_convert *x, struct pd_convert_names *names,
                                      void (*put)(struct pd_convert *x, uint32_t function,
                                                  struct pd_text *out));
PD_INLINE const char *pd_convert_name_of(const struct pd_convert_names *names, uint32_t function,
                                         size_t *length)
{
    size_t from = function ? names->ends.data[function - 1] : 0;
    *length = names->ends.data[function] - from;
    return names->text.data + from;
}
void pd_convert_names_free(struct pd_convert_names *names);

/* ---- groups: threads whose stacks have the same name above them ---- */

struct pd_convert_groups {
    uint32_t *of_thread; /* by thread: its group */
    uint32_t count;
    PD_VEC(uint32_t) first; /* by group: its first thread */
};
perfdata_status pd_convert_groups_make(struct pd_convert *x, struct pd_convert_groups *groups);
void pd_convert_groups_free(struct pd_convert_groups *groups);
/* What is written for a group: "comm-pid/tid"; nothing when all threads are one group. `raw`: as it
 * was recorded. */
void pd_convert_group_name(const struct pd_convert *x, uint32_t thread, struct pd_text *out);
void pd_convert_raw_group(const struct pd_convert *x, uint32_t thread, struct pd_text *out);

/* Sums of a group's threads, of wanted events, in the order of their first sample: `thread` is the
 * group. */
struct pd_convert_sums {
    PD_VEC(struct perfdata_profile_sum) list;
};
perfdata_status pd_convert_sums_make(struct pd_convert *x, const struct pd_convert_groups *groups,
                                     struct pd_convert_sums *sums);

/* Sorts elements by a key below `limit`, without changing the order of equal ones: `first` points
 * to the first element's key, and the keys lie `stride` bytes apart. `from`, when it is not NULL,
 * is the elements' order so far; `to` becomes the new one. Returns where in `to` the elements of
 * each key begin, and where the last ones end; for free(). NULL: no memory. */
size_t *pd_convert_sort(const uint32_t *first, size_t stride, size_t count, size_t limit,
                        const uint32_t *from, uint32_t *to);

#define FORMAT(name, text, help) extern const struct pd_format pd_format_##name;
#include "convert/formats.def"
#undef FORMAT

#endif
