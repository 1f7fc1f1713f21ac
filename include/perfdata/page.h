/* SPDX-License-Identifier: MIT */
/* Pictures of a profile: a page that shows it, and a flame graph as SVG.
 *
 *     struct perfdata_page_options options = PERFDATA_PAGE_OPTIONS_INIT;
 *     options.title = "nightly build";
 *     perfdata_page_file(recording, profile, &options, "perf.html");
 *
 * The page is one HTML file that needs no network: flame graph, table, callers and callees,
 * timeline. Its data are the columns of the profile, deflated (docs/page-data.md). The profile must
 * keep its samples (PERFDATA_PROFILE_KEEP_SAMPLES); an SVG needs the sums only. Nothing in a
 * recording can become markup or script. */
#ifndef PERFDATA_PAGE_H
#define PERFDATA_PAGE_H
#include <perfdata/annotate.h>
#include <perfdata/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So many context switches a page tells, those of the longest runs: a profile that is made for one
 * needs no more (its option max_switches). Since 0.1. */
#define PERFDATA_PAGE_MOST_SWITCHES 1000000

/* Since 0.1. */
enum perfdata_page_form {
    PERFDATA_PAGE_HTML = 0,
    PERFDATA_PAGE_SVG = 1, /* the flame graph alone */
    /* For a server. The page without data: it asks for `progress` and `data` beside its own
     * address; needs no profile (NULL). Since 0.1. */
    PERFDATA_PAGE_SHELL = 2,
    PERFDATA_PAGE_DATA = 3 /* the data: deflated, not in base64. Since 0.1. */
};

/* Since 0.1. */
enum perfdata_page_flags {
    /* SVG: root at the top, or at the bottom. With neither it is at the bottom of graphs that a
     * screen shows whole, and at the top of higher ones: viewers begin there. */
    PERFDATA_PAGE_ICICLE = 1 << 0,
    PERFDATA_PAGE_SAMPLES = 1 << 1, /* SVG: widths are numbers of samples, not their periods */
    PERFDATA_PAGE_UPWARD = 1 << 2
};

/* The samples of a recording of any size, gathered for a page in bounded memory while its profile
 * is built: perfdata_page_samples_take() is what goes into perfdata_profile_options.samples, the
 * samples into .samples_data. Of more than `most` (0: 2,000,000) those of one event, thread, stack
 * and CPU within a piece of time are joined; all sums stay exact. Where they differ in these, not
 * in their time alone, there are more: 512 pieces of time stay. NULL without memory. Since 0.1. */
typedef struct perfdata_page_samples perfdata_page_samples;
PERFDATA_API perfdata_page_samples *perfdata_page_samples_new(uint64_t most);
PERFDATA_API int perfdata_page_samples_take(void *samples, const perfdata_profile *profile,
                                            const struct perfdata_samples *from);
PERFDATA_API void perfdata_page_samples_free(perfdata_page_samples *samples);

/* Source and instructions for a page: perfdata_page_code_take() goes to perfdata_annotate_code(),
 * the code as its data. Of a function the lines near those with samples are kept; when there are
 * `most` bytes of text (0: 2 MiB) the functions that are left are counted only. `percent_limit` is
 * what perfdata_annotate_code() was given, borrowed; the page says it. NULL without memory. Since
 * 0.1. */
typedef struct perfdata_page_code perfdata_page_code;
PERFDATA_API perfdata_page_code *perfdata_page_code_new(uint64_t most, const char *percent_limit);
PERFDATA_API int perfdata_page_code_take(void *code, const struct perfdata_code_function *function);
PERFDATA_API void perfdata_page_code_free(perfdata_page_code *code);

/* Begin with PERFDATA_PAGE_OPTIONS_INIT. All is borrowed for the call. Since 0.1. */
struct perfdata_page_options {
    size_t struct_size;
    uint32_t form;     /* enum perfdata_page_form  */
    uint32_t flags;    /* enum perfdata_page_flags */
    const char *title; /* NULL: "perf.data"        */
    const perfdata_profile
        *before; /* what it is compared with; NULL: nothing. Then there is no timeline */
    const char *const *warnings; /* shown as they are: what was lost, what could not be read */
    size_t warning_count;
    uint64_t max_samples; /* more of them are joined within pieces of time; 0: 2,000,000 */
    /* In place of those that the profile kept, which it need not then; not with `before`. NULL:
     * none. Since 0.1. */
    perfdata_page_samples *samples;
    const perfdata_page_code *code; /* NULL: the page shows no code. Since 0.1 */
};
#define PERFDATA_PAGE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(struct perfdata_page_options), 0, 0, 0, 0, 0, 0, 0, 0, 0                            \
    }

/* Writes the picture through `write`. `recording`, whose header the page shows, may be NULL. Memory
 * goes with the samples (those that the profile kept about 40 bytes each, gathered ones 12) and
 * stacks; the time is that of compressing them.
 *   PERFDATA_ERROR_NO_DATA   the profile kept no samples
 *   PERFDATA_ERROR_OUTPUT    write() stopped it
 *   PERFDATA_ERROR_ARGUMENT, _MEMORY
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_page_write(perfdata_recording *recording,
                                                 const perfdata_profile *profile,
                                                 const struct perfdata_page_options *options,
                                                 perfdata_write_fn write, void *data);

/* Writes the page into a file, which appears under its name when it is complete; a pipe or device
 * is written into, "-" is standard output. `recording` is needed: it keeps the text of a failure.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_page_file(perfdata_recording *recording,
                                                const perfdata_profile *profile,
                                                const struct perfdata_page_options *options,
                                                const char *path);

#ifdef __cplusplus
}
#endif
#endif
