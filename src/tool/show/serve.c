/* SPDX-License-Identifier: MIT */
/* A page on loopback, by libmicrohttpd: only to who knows its address, only for reading. */
#include "tool/show/serve.h"
#include <arpa/inet.h>
#include <dlfcn.h>
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

/* The library brings a dozen others for TLS, which each start of each verb would load and bind. So
 * it is loaded where a page is served. This name has stood for its interface since 2015. */
#define LIBRARY "libmicrohttpd.so.12"

static struct {
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
    __typeof__(MHD_get_daemon_info) *get_daemon_info;
    __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
    __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_destroy_response) *destroy_response;
} mhd;

bool serve_built(void)
{
    return true;
}

const char *serve_load(void)
{
    static const struct {
        const char *name;
        void *to;
    } functions[] = {
        { "MHD_start_daemon", &mhd.start_daemon },
        { "MHD_stop_daemon", &mhd.stop_daemon },
        { "MHD_get_daemon_info", &mhd.get_daemon_info },
        { "MHD_lookup_connection_value", &mhd.lookup_connection_value },
        { "MHD_create_response_from_buffer", &mhd.create_response_from_buffer },
        { "MHD_add_response_header", &mhd.add_response_header },
        { "MHD_queue_response", &mhd.queue_response },
        { "MHD_destroy_response", &mhd.destroy_response },
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    for (size_t i = 0; i < TOOL_LENGTH(functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return dlerror();
        memcpy(functions[i].to, &found, sizeof found);
    }
    return NULL;
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
    const char *host = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
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
    struct MHD_Response *response = mhd.create_response_from_buffer(length, (void *)(uintptr_t)text,
                                                                    MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    mhd.add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < TOOL_LENGTH(headers); i++)
        mhd.add_response_header(response, headers[i][0], headers[i][1]);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        mhd.add_response_header(response, "Allow", "GET");
    enum MHD_Result result = mhd.queue_response(connection, code, response);
    mhd.destroy_response(response);
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
    const union MHD_DaemonInfo *info = mhd.get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
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
    struct MHD_Daemon *daemon = mhd.start_daemon(
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
        mhd.stop_daemon(daemon);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
