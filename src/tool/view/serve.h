/* SPDX-License-Identifier: MIT */
/* A page, served to this machine until a signal ends it, and its data, which may come later and be
 * replaced by newer ones. */
#ifndef PERFDATA_TOOL_SERVE_H
#define PERFDATA_TOOL_SERVE_H
#include "tool/text.h"
#include "tool/tool.h"

/* What the page is told while the recording is read. */
struct serve_news {
    double share;     /* of the recording that has been read */
    uint64_t records; /* that came out of it                 */
    bool whole;       /* nothing newer will come             */
};

/* The data of a range of time, both ends included, in ns of the recording's clock. Comes from
 * threads of the server, one call at a time. */
enum serve_range { SERVE_RANGE_DONE, SERVE_RANGE_TOO_LONG, SERVE_RANGE_FAILED };
typedef enum serve_range (*serve_range_fn)(void *data, uint64_t from, uint64_t to,
                                           struct tool_text *out);

struct server;

/* Whether this build can serve at all. */
bool serve_built(void);
/* Comes before serve_begin(). NULL, or why nothing can be served. */
const char *serve_load(void);
/* Serves `shell`, which is borrowed, and prints the address. From here on SIGINT, SIGTERM and
 * SIGHUP end the process within a tenth of a second: by the calls below, or without them. `port` 0:
 * a free one. *out is for serve_end(), NULL unless TOOL_DONE. */
enum tool_exit serve_begin(struct tool *tool, const struct tool_text *shell, uint16_t port,
                           struct server **out);
/* Newer data, of the first `share` of the recording, or, where `slices` is not 0, of so many pieces
 * all over its time, which together are that share. Without memory they are freed: the page keeps
 * what it has. */
void serve_give(struct server *server, struct tool_text *data, double share, unsigned slices);
/* From now on, ranges that are asked for come from `make`. */
void serve_offer_ranges(struct server *server, serve_range_fn make, void *data);
void serve_tell(struct server *server, const struct serve_news *news);
/* Has a signal come? From then on it is true. */
bool serve_is_over(struct server *server);
/* Until a signal comes. */
void serve_wait(struct server *server);
/* NULL does nothing. */
void serve_end(struct server *server);

#endif
