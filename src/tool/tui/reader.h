/* SPDX-License-Identifier: MIT */
/* A recording that a thread of its own reads while its report is looked at: a small part first,
 * then a larger one and the whole, so that there is something to see at once and its figures
 * grow. */
#ifndef PERFDATA_TUI_READER_H
#define PERFDATA_TUI_READER_H
#include "tool/tui/screen.h"
#include <perfdata/report_rows.h>
#include <pthread.h>

struct reader {
    struct tool *tool;
    const struct screen *screen;
    const char *name;
    struct perfdata_report_options options;
    pthread_t thread;
    bool started;
    /* The thread's own: */
    uint64_t limit; /* bytes of the part that is being read */
    bool stopped;   /* `limit` is less than all */

    pthread_mutex_t lock; /* for all below */
    perfdata_recording *recording;
    perfdata_report *report; /* the newest that nobody has taken; NULL: none */
    bool whole;              /* it is of the whole recording */
    bool done, quit;
    double share; /* of the recording that has been read */
    uint64_t records;
    perfdata_status status; /* of the whole recording */
    char message[512];
};

/* False: no thread could be started. */
bool reader_begin(struct reader *reader, struct tool *tool, const struct screen *screen,
                  const char *name, const struct perfdata_report_options *options);
/* Hands over a newer report with its recording, if there is one; the caller then owns both. */
bool reader_take(struct reader *reader, perfdata_report **report, perfdata_recording **recording);
/* False: the thread does not end soon and is left alone; nothing that it uses may be freed. */
bool reader_end(struct reader *reader);

#endif
