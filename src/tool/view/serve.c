/* SPDX-License-Identifier: MIT */
/* A page and its data on loopback, by libmicrohttpd: for whoever knows its address, and
 * read-only. */
#include "tool/view/serve.h"
#include "base/library.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, CONNECTIONS = 16, IDLE_SECONDS = 30 };

/* What is being sent must not go away when newer data come. */
struct data {
    unsigned users; /* answers, and the server as long as these are the newest */
    size_t length;
    char *text;
};

struct server {
    const struct tool_text *shell;
    struct MHD_Daemon *daemon;
    sigset_t ends, before;
    pthread_t watcher; /* waits for `ends` */
    bool watches;
    atomic_bool over;
    pthread_cond_t ended;
    pthread_mutex_t lock; /* for `ended` and all below, and for users of data */
    struct data *data;    /* the newest; NULL: none yet */
    unsigned picture;     /* how many data there have been so far */
    double part;          /* the share of the recording that the data are of */
    unsigned slices;      /* over how many pieces of time it is spread; 0: it is the first part */
    struct serve_news news;
    serve_range_fn make_range; /* NULL: not offered */
    void *range_data;
    char hosts[2][sizeof "localhost:65535"]; /* the names by which a browser on this machine asks */
    /* the following need no lock: */
    pthread_mutex_t making;         /* held while a range is made */
    char path[2 * TOKEN_BYTES + 3]; /* "/TOKEN/", fixed before the server begins */
};

/* It brings a dozen others for TLS. This name has stood for its interface since 2015. */
#define NAMES(ROW)                                                                                 \
    ROW(MHD_start_daemon)                                                                          \
    ROW(MHD_stop_daemon)                                                                           \
    ROW(MHD_get_daemon_info)                                                                       \
    ROW(MHD_lookup_connection_value)                                                               \
    ROW(MHD_create_response_from_buffer)                                                           \
    ROW(MHD_create_response_from_buffer_with_free_callback_cls)                                    \
    ROW(MHD_add_response_header)                                                                   \
    ROW(MHD_queue_response)                                                                        \
    ROW(MHD_destroy_response)
static struct {
    NAMES(PD_LIBRARY_MEMBER)
} lib = { NAMES(PD_LIBRARY_LINKED) };
static const struct pd_library_row rows[] = { NAMES(PD_LIBRARY_ROW) };
static struct pd_library library = PD_LIBRARY("libmicrohttpd.so.12", rows);
PD_LIBRARY_NOTE("libmicrohttpd.so.12", "view", "the verb view", "suggested")

bool serve_built(void)
{
    return true;
}

const char *serve_load(void)
{
    return pd_library_load(&library);
}

/* Takes equally long for any text of that length, so that the time does not give the token away. */
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

/* A page of another site can make a browser ask us, but only by that site's name (DNS
 * rebinding). */
static bool host_is_ours(struct server *server, struct MHD_Connection *connection)
{
    const char *host = lib.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    pthread_mutex_lock(&server->lock);
    bool ours = host &&
                (!strcasecmp(host, server->hosts[0]) || !strcasecmp(host, server->hosts[1]));
    pthread_mutex_unlock(&server->lock);
    return ours;
}

/* Queues the response and releases it. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code,
                              struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    if (!response)
        return MHD_NO;
    lib.MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < TOOL_LENGTH(headers); i++)
        lib.MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        lib.MHD_add_response_header(response, "Allow", "GET");
    enum MHD_Result result = lib.MHD_queue_response(connection, code, response);
    lib.MHD_destroy_response(response);
    return result;
}

static struct MHD_Response *lasting(const char *text, size_t length)
{
    return lib.MHD_create_response_from_buffer(length, (void *)(uintptr_t)text,
                                               MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code, const char *text)
{
    return answer(connection, code, lasting(text, strlen(text)), "text/plain; charset=utf-8");
}

/* ---- data ---- */

static void drop(struct data *data)
{
    if (!data || --data->users)
        return;
    free(data->text);
    free(data);
}

static struct server *of_sent; /* there is one server in a process */

static void was_sent(void *data)
{
    pthread_mutex_lock(&of_sent->lock);
    drop(data);
    pthread_mutex_unlock(&of_sent->lock);
}

static enum MHD_Result answer_data(struct server *server, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&server->lock);
    struct data *data = server->data;
    if (data)
        data->users++;
    pthread_mutex_unlock(&server->lock);
    if (!data)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "no data yet\n");
    struct MHD_Response *response = lib.MHD_create_response_from_buffer_with_free_callback_cls(
        data->length, data->text, was_sent, data);
    if (!response)
        was_sent(data);
    return answer(connection, MHD_HTTP_OK, response, "application/octet-stream");
}

static enum MHD_Result answer_progress(struct server *server, struct MHD_Connection *connection)
{
    char text[256];
    pthread_mutex_lock(&server->lock);
    const struct serve_news *news = &server->news;
    int length = snprintf(
        text, sizeof text,
        "{\"picture\":%u,\"part\":%.6f,\"slices\":%u,\"share\":%.6f,\"records\":%" PRIu64
        ",\"ranges\":%s,\"whole\":%s}\n",
        server->picture, server->part, server->slices, news->share, news->records,
        server->make_range ? "true" : "false", news->whole ? "true" : "false");
    pthread_mutex_unlock(&server->lock);
    struct MHD_Response *response = lib.MHD_create_response_from_buffer((size_t)length, text,
                                                                        MHD_RESPMEM_MUST_COPY);
    return answer(connection, MHD_HTTP_OK, response, "application/json");
}

/* "FROM-TO", nothing else. */
static bool read_range(const char *text, uint64_t *from, uint64_t *to)
{
    uint64_t *numbers[] = { from, to };
    for (int i = 0; i < 2; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return false;
        errno = 0;
        *numbers[i] = strtoull(text, &end, 10);
        if (errno || *end != (i ? '\0' : '-'))
            return false;
        text = end + 1;
    }
    return true;
}

static enum MHD_Result answer_range(struct server *server, struct MHD_Connection *connection,
                                    const char *text)
{
    uint64_t from, to;
    struct tool_text made = { 0 };
    pthread_mutex_lock(&server->lock);
    serve_range_fn make = server->make_range;
    pthread_mutex_unlock(&server->lock);
    if (!make || !read_range(text, &from, &to))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "no such range\n");
    pthread_mutex_lock(&server->making);
    enum serve_range result = make(server->range_data, from, to, &made);
    pthread_mutex_unlock(&server->making);
    if (result == SERVE_RANGE_DONE) {
        struct MHD_Response *response = lib.MHD_create_response_from_buffer(made.length, made.text,
                                                                            MHD_RESPMEM_MUST_FREE);
        if (!response)
            free(made.text);
        return answer(connection, MHD_HTTP_OK, response, "application/octet-stream");
    }
    free(made.text);
    return result == SERVE_RANGE_TOO_LONG
               ? refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the range is too long\n")
               : refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "it cannot be read\n");
}

/* The part of the address behind the token, NULL where the token is wrong. All names are compared
 * in any case, so that the time does not tell how much was right. */
static const char *behind_token(const struct server *server, const char *url)
{
    static const char *const names[] = { "", "data", "progress" };
    static const char range[] = "range/";
    char known[sizeof server->path + sizeof "progress"];
    char given[sizeof server->path + sizeof range];
    const char *found = NULL;
    snprintf(known, sizeof known, "%s%s", server->path, range);
    snprintf(given, sizeof given, "%.*s", (int)strlen(known), url);
    if (is_same(given, known))
        found = url + strlen(known) - (sizeof range - 1);
    for (size_t i = 0; i < TOOL_LENGTH(names); i++) {
        snprintf(known, sizeof known, "%s%s", server->path, names[i]);
        if (is_same(url, known))
            found = names[i];
    }
    return found;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct server *server = context;
    (void)version, (void)upload, (void)upload_size, (void)state;
    if (!host_is_ours(server, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "not by that name\n");
    if (strcmp(method, "GET") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    const char *name = behind_token(server, url);
    if (!name)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
    if (*name == 'r')
        return answer_range(server, connection, name + strlen("range/"));
    if (*name)
        return *name == 'd' ? answer_data(server, connection) : answer_progress(server, connection);
    return answer(connection, MHD_HTTP_OK, lasting(server->shell->text, server->shell->length),
                  "text/html; charset=utf-8");
}

void serve_give(struct server *server, struct tool_text *text, double share, unsigned slices)
{
    struct data *data = malloc(sizeof *data);
    if (data)
        *data = (struct data){ .users = 1, .length = text->length, .text = text->text };
    else
        free(text->text);
    *text = (struct tool_text){ 0 };
    if (!data)
        return;
    pthread_mutex_lock(&server->lock);
    drop(server->data);
    server->data = data;
    server->picture++;
    server->part = share;
    server->slices = slices;
    pthread_mutex_unlock(&server->lock);
}

void serve_offer_ranges(struct server *server, serve_range_fn make, void *data)
{
    pthread_mutex_lock(&server->lock);
    server->make_range = make;
    server->range_data = data;
    pthread_mutex_unlock(&server->lock);
}

void serve_tell(struct server *server, const struct serve_news *news)
{
    pthread_mutex_lock(&server->lock);
    server->news = *news;
    pthread_mutex_unlock(&server->lock);
}

/* ---- begin and end ---- */

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

bool serve_is_over(struct server *server)
{
    return atomic_load(&server->over);
}

void serve_wait(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    while (!atomic_load(&server->over))
        pthread_cond_wait(&server->ended, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

/* Whatever is being read or made is for the page alone: nothing is lost when the process ends in
 * the midst of it, as it does where nobody asks soon enough. */
static void *watch(void *data)
{
    static const struct timespec patience = { 0, 100000000 };
    struct server *server = data;
    while (sigwaitinfo(&server->ends, NULL) < 0)
        ;
    pthread_mutex_lock(&server->lock);
    atomic_store(&server->over, true);
    pthread_cond_broadcast(&server->ended);
    pthread_mutex_unlock(&server->lock);
    nanosleep(&patience, NULL);
    _exit(TOOL_DONE);
}

/* All threads that are started from here on inherit this: signals wait for the watcher. */
static bool hold_signals(struct server *server)
{
    sigemptyset(&server->ends);
    sigaddset(&server->ends, SIGINT);
    sigaddset(&server->ends, SIGTERM);
    sigaddset(&server->ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &server->ends, &server->before);
    signal(SIGPIPE, SIG_IGN);
    server->watches = !pthread_create(&server->watcher, NULL, watch, server);
    return server->watches;
}

static enum tool_exit tell_address(struct tool *tool, struct server *server)
{
    const union MHD_DaemonInfo *info = lib.MHD_get_daemon_info(server->daemon,
                                                               MHD_DAEMON_INFO_BIND_PORT);
    if (!info)
        return tool_failure(tool, PERFDATA_ERROR_IO, NULL, "the server has no port");
    /* Until the names are known nobody is answered. */
    pthread_mutex_lock(&server->lock);
    snprintf(server->hosts[0], sizeof server->hosts[0], "127.0.0.1:%u", info->port);
    snprintf(server->hosts[1], sizeof server->hosts[1], "localhost:%u", info->port);
    pthread_mutex_unlock(&server->lock);
    tool_printf(tool, "http://127.0.0.1:%u%s\n", info->port, server->path);
    tool_flush(tool);
    return TOOL_DONE;
}

static enum tool_exit start(struct tool *tool, struct server *server, uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
    if (!make_token(server))
        return tool_failure(tool, PERFDATA_ERROR_IO, NULL, "the system gives no random numbers");
    server->daemon = lib.MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_AUTO, port, NULL,
        NULL, on_request, server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (!server->daemon)
        return tool_failure(tool, PERFDATA_ERROR_IO, NULL, strerror(errno));
    return tell_address(tool, server);
}

enum tool_exit serve_begin(struct tool *tool, const struct tool_text *shell, uint16_t port,
                           struct server **out)
{
    struct server *server = calloc(1, sizeof *server);
    *out = NULL;
    if (!server)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    server->shell = shell;
    pthread_mutex_init(&server->lock, NULL);
    pthread_mutex_init(&server->making, NULL);
    pthread_cond_init(&server->ended, NULL);
    of_sent = server;
    enum tool_exit code = hold_signals(server)
                              ? start(tool, server, port)
                              : tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (code == TOOL_DONE)
        *out = server;
    else
        serve_end(server);
    return code;
}

void serve_end(struct server *server)
{
    if (!server)
        return;
    if (server->daemon)
        lib.MHD_stop_daemon(server->daemon);
    if (server->watches) {
        pthread_cancel(server->watcher);
        pthread_join(server->watcher, NULL);
    }
    drop(server->data);
    pthread_sigmask(SIG_SETMASK, &server->before, NULL);
    pthread_cond_destroy(&server->ended);
    pthread_mutex_destroy(&server->making);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
