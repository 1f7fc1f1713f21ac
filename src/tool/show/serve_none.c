/* SPDX-License-Identifier: MIT */
/* A build without libmicrohttpd: nothing is served. */
#include "tool/show/serve.h"

bool serve_built(void)
{
    return false;
}

const char *serve_load(void)
{
    return "this build was made without libmicrohttpd";
}

enum tool_exit serve(struct tool *tool, const struct serve_page *page, uint16_t port)
{
    (void)page, (void)port;
    return tool_usage(tool, "%s", serve_load());
}
