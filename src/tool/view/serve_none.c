/* SPDX-License-Identifier: MIT */
/* A build without libmicrohttpd: nothing is served. */
#include "tool/view/serve.h"
#include <stdlib.h>

bool serve_built(void)
{
    return false;
}

const char *serve_load(void)
{
    return "this build was made without libmicrohttpd";
}

enum tool_exit serve_begin(struct tool *tool, const struct tool_text *shell, uint16_t port,
                           struct server **out)
{
    (void)shell, (void)port;
    *out = NULL;
    return tool_usage(tool, "%s", serve_load());
}

void serve_give(struct server *server, struct tool_text *data, double share, unsigned slices)
{
    (void)server, (void)share, (void)slices;
    free(data->text);
    *data = (struct tool_text){ 0 };
}

void serve_offer_ranges(struct server *server, serve_range_fn make, void *data)
{
    (void)server, (void)make, (void)data;
}

void serve_tell(struct server *server, const struct serve_news *news)
{
    (void)server, (void)news;
}

bool serve_is_over(struct server *server)
{
    (void)server;
    return true;
}

void serve_wait(struct server *server)
{
    (void)server;
}

void serve_end(struct server *server)
{
    (void)server;
}
