/* SPDX-License-Identifier: MIT */
/* A page on loopback, by libmicrohttpd: only to who knows its address, only for reading. */
#include "tool/show/serve.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 16, CONNECTIONS = 16, IDLE_SECONDS = 30 };

struct server {
    const struct serve_page *page;
    char path[2 * TOKEN_BYTES + 3];          /* "/TOKEN/" */
    char hosts[2][sizeof "localhost:65535"]; /* what a browser on this machine asks by */
};

bool serve_built(void)
{
    return true;
}

/* Takes as long for any text of that length. */
static bool is_same(const char *given, const char *known)
{
    size_t length = strlen(known);
    unsigned differ = 0;
    if (strlen(given) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        differ |= (unsigned char)given[i] ^ (unsigned char)known[i];
    return !differ;
}

/* A page of another site can make a browser ask us, but by its own name (DNS rebinding). */
static bool host_is_ours(const struct server *server, struct MHD_Connection *connection)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    return host && (!strcasecmp(host, server->hosts[0]) || !strcasecmp(host, server->hosts[1]));
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const void *text,
                              size_t length, const char *type)
{
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    struct MHD_Response *response = MHD_create_response_from_buffer(length, (void *)(uintptr_t)text,
                                                                    MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < TOOL_LENGTH(headers); i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET");
    enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code, const char *text)
{
    return answer(connection, code, text, strlen(text), "text/plain; charset=utf-8");
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    const struct server *server = data;
    (void)version, (void)upload, (void)upload_size, (void)state;
    if (!host_is_ours(server, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "not by that name\n");
    if (strcmp(method, "GET") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    if (!is_same(url, server->path))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
    return answer(connection, MHD_HTTP_OK, server->page->text, server->page->length,
                  "text/html; charset=utf-8");
}

static bool make_token(struct server *server)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    char *to = server->path;
    *to++ = '/';
    for (size_t i = 0; i < sizeof bytes; i++, to += 2)
        snprintf(to, 3, "%02x", bytes[i]);
    snprintf(to, 2, "/");
    return true;
}

static void wait_for_signal(const sigset_t *ends)
{
    int number;
    while (sigwait(ends, &number))
        continue;
}

static enum tool_exit run(struct tool *tool, struct server *server, struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    sigset_t ends;
    if (!info)
        return tool_failure(tool, PERFDATA_ERROR_IO, NULL, "the server has no port");
    /* Nobody has the token yet, so nobody is answered before the names are known. */
    snprintf(server->hosts[0], sizeof server->hosts[0], "127.0.0.1:%u", info->port);
    snprintf(server->hosts[1], sizeof server->hosts[1], "localhost:%u", info->port);
    tool_printf(tool, "http://127.0.0.1:%u%s\n", info->port, server->path);
    tool_flush(tool);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    wait_for_signal(&ends);
    return TOOL_DONE;
}

enum tool_exit serve(struct tool *tool, const struct serve_page *page, uint16_t port)
{
    struct server server = { .page = page };
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
    sigset_t blocked, before;
    if (!make_token(&server))
        return tool_failure(tool, PERFDATA_ERROR_IO, NULL, "the system gives no random numbers");
    /* Its threads inherit this: signals wait for us. */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    signal(SIGPIPE, SIG_IGN);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, port, NULL, NULL, on_request, &server,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_END);
    enum tool_exit code;
    if (daemon)
        code = run(tool, &server, daemon);
    else
        code = tool_failure(tool, PERFDATA_ERROR_IO, NULL, strerror(errno));
    if (daemon)
        MHD_stop_daemon(daemon);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
