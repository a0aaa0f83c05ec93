#include "serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "barcode/base/log.h"
#include "barcode/output/page_file.h"
#include "serve_host.h"
#include "serve_socket.h"
#include "serve_stream.h"
#include "serve_strip.h"

enum {
    CONNECTIONS_MOST = 64,
    CONNECTIONS_OF_ADDRESS = 32,
    CONNECTION_MEMORY = 32 << 10, /* of libmicrohttpd, for a connection's header and chunks */
    IDLE_S = 10,                  /* a connection on which nothing moves */
    REQUEST_S = 10,               /* for a whole request */
    REPLY_S = 600,                /* for a whole answer, but for events */
    TICK_MS = 1000,
    BLOCK = 64 << 10
};

/* An accepted connection. */
struct peer {
    struct server *server;
    struct MHD_Connection *connection;
    struct peer *next, *previous;
    int64_t deadline_ns; /* of its request or answer; 0: none */
    bool suspended;      /* waits for a column */
};

struct server {
    struct live_feed *feed;
    struct serve_address address;
    int port, watch, epoll, ending; /* descriptors; `ending` is an eventfd */
    char title[256];
    struct MHD_Daemon *daemon;
    struct peer *peers;
    struct MHD_Response *strip; /* as of `strip_puts`, made at `strip_ns` */
    uint64_t strip_puts;
    int64_t strip_ns;
    atomic_bool over;
    pthread_t thread;
    bool started;
};

/* The content of an answer that is made while it is sent. */
struct content {
    struct serve_stream *stream;
    struct peer *peer;
};

bool serve_is_built(void) { return true; }

int serve_port(const struct server *s) { return s->port; }

/* ------------------------------------------------------------------ connections */

static void set_deadline(struct peer *p, int seconds)
{
    p->deadline_ns = seconds > 0 ? clock_ns() + seconds * (int64_t)1000000000 : 0;
}

static void on_connection(void *server, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *s = server;
    struct peer *p = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        p = *context = calloc(1, sizeof *p);
        if (!p)
            return; /* its requests are refused */
        p->server = s;
        p->connection = c;
        p->next = s->peers;
        if (p->next)
            p->next->previous = p;
        s->peers = p;
        set_deadline(p, REQUEST_S);
    } else if (p) {
        *(p->previous ? &p->previous->next : &s->peers) = p->next;
        if (p->next)
            p->next->previous = p->previous;
        free(p);
    }
}

static struct peer *peer_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return i ? i->socket_context : NULL;
}

static void on_completed(void *server, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode how)
{
    (void)server;
    (void)how;
    *context = NULL;
    struct peer *p = peer_of(c);
    if (p)
        set_deadline(p, REQUEST_S);
}

/* Ends connections whose time is over: libmicrohttpd's own limit is only for those that sleep. */
static void drop_slow(struct server *s)
{
    const int64_t now = clock_ns();
    for (struct peer *p = s->peers; p; p = p->next) {
        const union MHD_ConnectionInfo *i =
            MHD_get_connection_info(p->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (i && p->deadline_ns && now > p->deadline_ns)
            shutdown(i->connect_fd, SHUT_RDWR);
    }
}

static void resume_all(struct server *s)
{
    for (struct peer *p = s->peers; p; p = p->next)
        if (p->suspended) {
            p->suspended = false;
            MHD_resume_connection(p->connection);
        }
}

/* ------------------------------------------------------------------ answers */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                              const char *type)
{
    static const char *const header[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
         "'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}};
    if (!r)
        return MHD_NO;
    if (type) {
        MHD_add_response_header(r, "Content-Type", type);
        for (size_t i = 0; i < sizeof header / sizeof *header; i++)
            MHD_add_response_header(r, header[i][0], header[i][1]);
    }
    return MHD_queue_response(c, status, r);
}

static enum MHD_Result answer_once(struct MHD_Connection *c, unsigned status,
                                   struct MHD_Response *r, const char *type)
{
    enum MHD_Result done = answer(c, status, r, type);
    if (r)
        MHD_destroy_response(r);
    return done;
}

static enum MHD_Result answer_bytes(struct MHD_Connection *c, unsigned status, const void *data,
                                    size_t size, const char *type)
{
    /* Never written to; the parameter's type is as old as libmicrohttpd. */
    union {
        const void *constant;
        void *plain;
    } bytes = {data};
    struct MHD_Response *r =
        MHD_create_response_from_buffer(size, bytes.plain, MHD_RESPMEM_PERSISTENT);
    if (r && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    return answer_once(c, status, r, type);
}

static enum MHD_Result answer_status(struct MHD_Connection *c, unsigned status, const char *text)
{
    return answer_bytes(c, status, text, strlen(text), "text/plain; charset=utf-8");
}

static ssize_t read_content(void *content, uint64_t at, char *to, size_t most)
{
    (void)at;
    struct content *n = content;
    bool over;
    size_t count = serve_stream_read(n->stream, to, most, &over);
    if (count > 0)
        return (ssize_t)count;
    if (over || atomic_load(&n->peer->server->over))
        return MHD_CONTENT_READER_END_OF_STREAM;
    n->peer->suspended = true;
    MHD_suspend_connection(n->peer->connection);
    return 0;
}

static void free_content(void *content)
{
    struct content *n = content;
    serve_stream_free(&n->stream);
    free(n);
}

static enum MHD_Result answer_stream(struct peer *p, struct serve_stream *stream, const char *type)
{
    struct content *n = calloc(1, sizeof *n);
    struct MHD_Response *r = NULL;
    if (stream && n) {
        *n = (struct content){stream, p};
        r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_content, n,
                                              free_content);
    }
    if (!r) {
        serve_stream_free(&stream);
        free(n);
        return MHD_NO;
    }
    return answer_once(p->connection, MHD_HTTP_OK, r, type);
}

/* Makes the picture again if a column has come, but only once a second. */
static enum MHD_Result answer_strip(struct peer *p)
{
    struct server *s = p->server;
    const uint64_t puts = live_feed_puts(s->feed);
    if (!s->strip || (puts != s->strip_puts && clock_since(s->strip_ns) >= 1)) {
        struct err e = ERR_INIT;
        size_t size;
        void *png = serve_strip_png(s->feed, &size, &e);
        if (!png && e.code == ERR_NONE)
            return answer_status(p->connection, MHD_HTTP_NOT_FOUND, "There is no column yet.\n");
        if (!png)
            return answer_status(p->connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "Out of memory.\n");
        if (s->strip)
            MHD_destroy_response(s->strip);
        s->strip = MHD_create_response_from_buffer(size, png, MHD_RESPMEM_MUST_FREE);
        s->strip_puts = puts;
        s->strip_ns = clock_ns();
        return answer(p->connection, MHD_HTTP_OK, s->strip, "image/png");
    }
    return answer(p->connection, MHD_HTTP_OK, s->strip, NULL);
}

/* Returns the column after which the reader wants to have columns. */
static int64_t since_of(struct MHD_Connection *c)
{
    const char *last = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID");
    const char *text = last ? last : MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "since");
    char *end;
    if (!text || !*text)
        return INT64_MIN;
    errno = 0;
    long long since = strtoll(text, &end, 10);
    return *end || errno ? INT64_MIN : since;
}

static enum MHD_Result route(struct peer *p, const char *path)
{
    static const struct {
        const char *path;
        const struct page_file *file;
        const char *type;
    } page[] = {{"/", &page_live_html, "text/html; charset=utf-8"},
                {"/live.css", &page_live_css, "text/css; charset=utf-8"},
                {"/common.css", &page_common_css, "text/css; charset=utf-8"},
                {"/live.js", &page_live_js, "text/javascript; charset=utf-8"}};
    struct server *s = p->server;
    set_deadline(p, REPLY_S);
    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        if (strcmp(path, page[i].path) == 0)
            return answer_bytes(p->connection, MHD_HTTP_OK, page[i].file->data, page[i].file->size,
                                page[i].type);
    if (strcmp(path, "/strip.png") == 0)
        return answer_strip(p);
    const int64_t since = since_of(p->connection);
    if (strcmp(path, "/columns") == 0)
        return answer_stream(p, serve_stream_columns(s->feed, since, NULL),
                             "application/octet-stream");
    if (strcmp(path, "/events") != 0)
        return answer_status(p->connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
    set_deadline(p, 0);
    return answer_stream(p, serve_stream_events(s->feed, s->title, since, NULL),
                         "text/event-stream");
}

static enum MHD_Result on_request(void *server, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct server *s = server;
    struct peer *p = peer_of(c);
    (void)version;
    (void)upload;
    if (!p)
        return MHD_NO;
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    if (!serve_host_is_ours(host, s->address.host))
        return answer_status(c, MHD_HTTP_FORBIDDEN,
                             "This server has another name: use the address that --serve has.\n");
    if (!serve_origin_is_ours(origin, host))
        return answer_status(c, MHD_HTTP_FORBIDDEN, "Pages of other sites are refused.\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_status(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
    /* Answers before the body is read close the connection. */
    if (!*context || *upload_size > 0) {
        *context = p;
        *upload_size = 0;
        return MHD_YES;
    }
    return route(p, path);
}

/* ------------------------------------------------------------------ the thread */

static int time_to_wait(struct server *s)
{
    MHD_UNSIGNED_LONG_LONG ms;
    return MHD_get_timeout(s->daemon, &ms) == MHD_YES && ms < TICK_MS ? (int)ms : TICK_MS;
}

static void *serve(void *server)
{
    struct server *s = server;
    int64_t woken_ns = clock_ns();
    while (!atomic_load(&s->over)) {
        struct epoll_event event[3];
        uint64_t count;
        if (epoll_wait(s->epoll, event, 3, time_to_wait(s)) < 0 && errno != EINTR)
            break;
        const bool fresh = read(s->watch, &count, sizeof count) > 0;
        if (fresh || clock_since(woken_ns) >= SERVE_HEARTBEAT_S) {
            woken_ns = clock_ns();
            resume_all(s);
        }
        MHD_run(s->daemon);
        drop_slow(s);
    }
    resume_all(s);
    MHD_run(s->daemon);
    return NULL;
}

static bool watch_fd(struct server *s, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool start_daemon(struct server *s, int listener)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_ADDRESS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
    return s->daemon != NULL;
}

static bool start(struct server *s, struct err *e)
{
    s->watch = live_feed_watch(s->feed, e);
    if (s->watch < 0)
        return false;
    int listener = serve_socket_listen(&s->address, &s->port, e);
    if (listener < 0)
        return false;
    if (!start_daemon(s, listener)) {
        close(listener);
        return err_set(e, ERR_FAILED, "--serve: cannot start libmicrohttpd");
    }
    const union MHD_DaemonInfo *i = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!i || s->epoll < 0 || !watch_fd(s, i->epoll_fd) || !watch_fd(s, s->watch) ||
        !watch_fd(s, s->ending))
        return err_set(e, ERR_FAILED, "--serve: cannot use epoll: %s", strerror(errno));
    int error = pthread_create(&s->thread, NULL, serve, s);
    s->started = error == 0;
    return s->started ||
           err_set(e, ERR_FAILED, "--serve: cannot start a thread: %s", strerror(error));
}

struct server *serve_open(const struct serve_address *a, struct live_feed *f, const char *title,
                          struct err *e)
{
    struct server *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->feed = f;
    s->address = *a;
    s->epoll = s->ending = -1;
    snprintf(s->title, sizeof s->title, "%s", title);
    if (!start(s, e)) {
        serve_close(&s);
        return NULL;
    }
    const bool bracket = strchr(a->host, ':') != NULL;
    log_msg(LOG_INFO, "serving http://%s%s%s:%d/", bracket ? "[" : "", a->host, bracket ? "]" : "",
            s->port);
    return s;
}

void serve_close(struct server **server)
{
    struct server *s = *server;
    const uint64_t one = 1;
    if (!s)
        return;
    atomic_store(&s->over, true);
    if (s->started && write(s->ending, &one, sizeof one) == sizeof one)
        pthread_join(s->thread, NULL);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    if (s->strip)
        MHD_destroy_response(s->strip);
    if (s->epoll >= 0)
        close(s->epoll);
    if (s->ending >= 0)
        close(s->ending);
    free(s);
    *server = NULL;
}
