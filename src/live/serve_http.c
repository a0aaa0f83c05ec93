#include "serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "output/html/html_template.h"
#include "output/formats/png.h"
#include "live_text.h"
#include "serve_host.h"

enum {
    CONNECTIONS_MOST = 256,
    CONNECTIONS_OF_ADDRESS = 32,
    CONNECTION_MEMORY = 32 << 10, /* of libmicrohttpd, for a connection's header */
    IDLE_S = 10,                  /* a connection on which nothing moves */
    WAITING = 128,                /* connections that the kernel keeps until they are accepted */
    BLOCK = 16 << 10
};

struct server {
    const struct live_feed *feed;
    struct serve_address address;
    int port;
    char title[256];
    struct MHD_Daemon *daemon;
    uint8_t *record; /* room for one of /columns */
    struct MHD_Response *strip;
    int64_t strip_ns; /* when it was made */
    double strip_s;   /* how long that took */
};

int serve_port(const struct server *s) { return s->port; }

/* ------------------------------------------------------------------ answers */

static void add_headers(struct MHD_Response *r, const char *type)
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
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        MHD_add_response_header(r, header[i][0], header[i][1]);
}

/* Queues an answer, and frees it. `r` may be NULL. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                              const char *type)
{
    if (!r)
        return MHD_NO;
    add_headers(r, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    enum MHD_Result done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

/* Answers with bytes that outlive the server. */
static enum MHD_Result answer_bytes(struct MHD_Connection *c, unsigned status, const void *data,
                                    size_t size, const char *type)
{
    /* Never written to; the parameter's type is as old as libmicrohttpd. */
    union {
        const void *constant;
        void *plain;
    } bytes = {data};
    return answer(c, status,
                  MHD_create_response_from_buffer(size, bytes.plain, MHD_RESPMEM_PERSISTENT), type);
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    return answer_bytes(c, status, text, strlen(text), "text/plain; charset=utf-8");
}

/* ------------------------------------------------------------------ columns */

/* The columns of an answer. They are read from the feed while it is sent. */
struct content {
    struct server *server;
    int64_t first;
    size_t count;
};

static size_t record_size(const struct server *s)
{
    return LIVE_RECORD + (size_t)live_feed_height(s->feed) * 3;
}

/* Copies the part of `from` that begins `at`, of `size` bytes. Returns how much that is. */
static size_t copy_part(const uint8_t *from, size_t size, uint64_t at, char *to, size_t most)
{
    size_t part = size - (size_t)at < most ? size - (size_t)at : most;
    memcpy(to, from + at, part);
    return part;
}

/* Implements MHD_ContentReaderCallback. A column that is no longer kept breaks the answer off. */
static ssize_t read_columns(void *content, uint64_t at, char *to, size_t most)
{
    const struct content *n = content;
    struct server *s = n->server;
    const size_t size = record_size(s);
    const uint8_t *rgb;
    size_t done = 0;
    if (at < LIVE_RECORDS_HEAD) {
        uint8_t head[LIVE_RECORDS_HEAD];
        live_text_records_head(s->feed, head);
        return (ssize_t)copy_part(head, sizeof head, at, to, most);
    }
    at -= LIVE_RECORDS_HEAD;
    while (done < most && at < n->count * size) {
        const struct live_column *c = live_feed_get(s->feed, n->first + (int64_t)(at / size), &rgb);
        if (!c)
            return done > 0 ? (ssize_t)done : MHD_CONTENT_READER_END_WITH_ERROR;
        live_text_record(c, rgb, live_feed_height(s->feed), s->record);
        size_t part = copy_part(s->record, size, at % size, to + done, most - done);
        done += part;
        at += part;
    }
    return (ssize_t)done;
}

/* Returns the column after which the reader wants to have columns. */
static int64_t since_of(struct MHD_Connection *c)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "since");
    char *end;
    if (!text || !*text)
        return INT64_MIN;
    errno = 0;
    long long since = strtoll(text, &end, 10);
    return *end || errno ? INT64_MIN : since;
}

static enum MHD_Result answer_columns(struct server *s, struct MHD_Connection *c)
{
    const int64_t since = since_of(c), oldest = live_feed_oldest(s->feed),
                  newest = live_feed_newest(s->feed);
    struct content *n = malloc(sizeof *n);
    if (!n)
        return MHD_NO;
    *n = (struct content){.server = s};
    if (since < newest) {
        n->first = since < oldest ? oldest : since + 1;
        n->count = (size_t)(newest - n->first + 1);
    }
    struct MHD_Response *r = MHD_create_response_from_callback(
        LIVE_RECORDS_HEAD + n->count * record_size(s), BLOCK, read_columns, n, free);
    if (!r)
        free(n);
    return answer(c, MHD_HTTP_OK, r, "application/octet-stream");
}

/* ------------------------------------------------------------------ the picture */

/* Copies a column into rgb[height][width][3]. */
static void put_column(const struct live_feed *f, int64_t number, size_t x, size_t width,
                       uint8_t *image)
{
    const uint8_t *rgb;
    const struct live_column *c = live_feed_get(f, number, &rgb);
    for (size_t y = 0; c && y < (size_t)live_feed_height(f); y++) {
        uint8_t *to = image + (y * width + x) * 3;
        if (c->missing)
            memset(to, (x + y) & 4 ? 0x38 : 0x1c, 3); /* the page's hatching (live.js) */
        else
            memcpy(to, rgb + y * 3, 3);
    }
}

/* Returns the kept columns as a PNG, which the caller frees, or NULL. */
static char *make_png(const struct live_feed *f, size_t *size)
{
    struct err none = ERR_INIT;
    const int64_t first = live_feed_oldest(f);
    const size_t width = (size_t)(live_feed_newest(f) - first + 1);
    char *png = NULL;
    uint8_t *image = calloc(width * (size_t)live_feed_height(f), 3);
    FILE *file = image ? open_memstream(&png, size) : NULL;
    for (size_t x = 0; image && x < width; x++)
        put_column(f, first + (int64_t)x, x, width, image);
    bool ok = file && png_pixels_write(image, (int)width, live_feed_height(f), file, &none);
    if (file && fclose(file) != 0)
        ok = false;
    free(image);
    if (ok)
        return png;
    free(png);
    return NULL;
}

/* Makes the picture again, but at most once a second, and in a twentieth of the time. */
static enum MHD_Result answer_strip(struct server *s, struct MHD_Connection *c)
{
    enum { SHARE = 20 };
    const int64_t now = clock_ns();
    const double age = (double)(now - s->strip_ns) / 1e9;
    size_t size;
    if (live_feed_newest(s->feed) == INT64_MIN)
        return answer_text(c, MHD_HTTP_NOT_FOUND, "There is no column yet.\n");
    if (!s->strip || (age >= 1 && age >= SHARE * s->strip_s)) {
        char *png = make_png(s->feed, &size);
        if (!png)
            return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "Out of memory.\n");
        if (s->strip)
            MHD_destroy_response(s->strip);
        s->strip = MHD_create_response_from_buffer(size, png, MHD_RESPMEM_MUST_FREE);
        s->strip_ns = now;
        s->strip_s = clock_since(now);
        if (s->strip)
            add_headers(s->strip, "image/png");
    }
    return s->strip ? MHD_queue_response(c, MHD_HTTP_OK, s->strip) : MHD_NO;
}

/* ------------------------------------------------------------------ requests */

static enum MHD_Result route(struct server *s, struct MHD_Connection *c, const char *path)
{
    static const struct {
        const char *path;
        const struct page_file *file;
        const char *type;
    } page[] = {{"/", &page_live_html, "text/html; charset=utf-8"},
                {"/live.css", &page_live_css, "text/css; charset=utf-8"},
                {"/common.css", &page_common_css, "text/css; charset=utf-8"},
                {"/live.js", &page_live_js, "text/javascript; charset=utf-8"}};
    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        if (strcmp(path, page[i].path) == 0)
            return answer_bytes(c, MHD_HTTP_OK, page[i].file->data, page[i].file->size,
                                page[i].type);
    if (strcmp(path, "/title") == 0)
        return answer_text(c, MHD_HTTP_OK, s->title);
    if (strcmp(path, "/strip.png") == 0)
        return answer_strip(s, c);
    if (strcmp(path, "/columns") == 0)
        return answer_columns(s, c);
    return answer_text(c, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
}

static enum MHD_Result on_request(void *server, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct server *s = server;
    (void)version;
    (void)upload;
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    if (!serve_host_is_ours(host, s->address.host))
        return answer_text(c, MHD_HTTP_FORBIDDEN,
                           "This server has another name: use the address that --serve has.\n");
    if (!serve_origin_is_ours(origin, host))
        return answer_text(c, MHD_HTTP_FORBIDDEN, "Pages of other sites are refused.\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
    /* Answers before the body is read close the connection. */
    if (!*context || *upload_size > 0) {
        *context = s;
        *upload_size = 0;
        return MHD_YES;
    }
    return route(s, c, path);
}

int serve_descriptor(const struct server *s)
{
    const union MHD_DaemonInfo *i = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return i ? i->epoll_fd : -1;
}

int serve_run(struct server *s)
{
    const MHD_UNSIGNED_LONG_LONG most = 3600000;
    MHD_UNSIGNED_LONG_LONG ms;
    MHD_run(s->daemon);
    if (MHD_get_timeout(s->daemon, &ms) != MHD_YES)
        return -1;
    return (int)(ms < most ? ms : most);
}

/* ------------------------------------------------------------------ opening */

static int listen_on(const struct addrinfo *a)
{
    const int yes = 1, no = 0;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0)
        return -1;
    /* A restart listens again at once; [::] also serves IPv4. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, WAITING) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {.sin6_port = 0}};
    socklen_t length = sizeof bound;
    if (getsockname(fd, &bound.any, &length) != 0)
        return 0;
    return ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
}

/* Returns a socket that listens on the address, without blocking, or -1. Sets the port. */
static int open_listener(const struct serve_address *a, int *port, struct err *e)
{
    char service[8];
    snprintf(service, sizeof service, "%d", (int)a->port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int status = getaddrinfo(a->host, service, &hints, &list), fd = -1;
    for (const struct addrinfo *i = list; status == 0 && i && fd < 0; i = i->ai_next)
        fd = listen_on(i);
    const char *why = status == 0 || status == EAI_SYSTEM ? strerror(errno) : gai_strerror(status);
    if (list)
        freeaddrinfo(list);
    if (fd < 0)
        err_set(e, ERR_FAILED, "--serve: cannot listen on '%s', port %d: %s", a->host, (int)a->port,
                why);
    else
        *port = port_of(fd);
    return fd;
}

static bool start(struct server *s, struct err *e)
{
    s->record = err_calloc(record_size(s), 1, e);
    int listener = s->record ? open_listener(&s->address, &s->port, e) : -1;
    if (listener < 0)
        return false;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_OF_ADDRESS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
    if (s->daemon)
        return true;
    close(listener);
    return err_set(e, ERR_FAILED, "--serve: cannot start libmicrohttpd");
}

struct server *serve_open(const struct serve_address *a, const struct live_feed *f,
                          const char *title, struct err *e)
{
    struct server *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->feed = f;
    s->address = *a;
    snprintf(s->title, sizeof s->title, "%s", title);
    text_make_plain(s->title);
    if (!start(s, e)) {
        serve_close(&s);
        return NULL;
    }
    const bool bracket = strchr(a->host, ':') != NULL;
    log_msg(LOG_INFO, "serving http://%s%s%s:%d/", bracket ? "[" : "", a->host, bracket ? "]" : "",
            s->port);
    return s;
}

void serve_close(struct server **s)
{
    if (!*s)
        return;
    if ((*s)->daemon)
        MHD_stop_daemon((*s)->daemon);
    if ((*s)->strip)
        MHD_destroy_response((*s)->strip);
    free((*s)->record);
    free(*s);
    *s = NULL;
}
