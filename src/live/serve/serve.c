/* serve.c - the server of --serve, by libmicrohttpd. */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "output/html/html_template.h"
#include "output/formats/images.h"

enum {
    CONNECTIONS_MOST = 256,
    CONNECTIONS_OF_ADDRESS = 32,
    CONNECTION_MEMORY = 32 << 10, /* of libmicrohttpd, for a connection's header */
    IDLE_S = 10,                  /* a connection on which nothing moves */
    WAITING = 128,                /* connections that the kernel keeps until they are accepted */
    BLOCK = 16 << 10,
    PICTURE_S = 10,    /* for which /strip.png is not made again: it takes the only thread */
    RECORDS_HEAD = 32, /* bytes before the records of /columns */
    RECORD = 24,       /* bytes of a record before its pixels */
    HOST = 256,
    GAP_DARK = 0x1c, /* the hatching of missing columns, as in live.js */
    GAP_LIGHT = 0x38
};

struct server {
    const struct live_feed *feed;
    struct serve_address address;
    char title[256];
    struct MHD_Daemon *daemon;
    uint8_t *record;              /* room for one of /columns */
    struct MHD_Response *picture; /* of /strip.png; NULL: none was made yet */
    int64_t picture_ns;           /* when it was made */
};

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

static void put_number(uint64_t value, int bytes, uint8_t *to)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/*
 * Writes the record of a column. All numbers are little-endian.
 *
 *     offset  bytes
 *     0       8        number
 *     8       8        its start, in microseconds of UTC since 1970
 *     16      1        flags: 1 missing, 2 open
 *     17      3        average: red, green, blue
 *     20      3        dominant: red, green, blue
 *     23      1        0
 *     24      3 h      the pixels from the top; zeros if missing
 */
static void write_record(const struct live_column *c, const uint8_t *rgb, int height, uint8_t *to)
{
    put_number((uint64_t)c->number, 8, to);
    put_number((uint64_t)c->time_us, 8, to + 8);
    to[16] = (uint8_t)((c->missing ? 1 : 0) | (c->open ? 2 : 0));
    memcpy(to + 17, c->average, 3);
    memcpy(to + 20, c->dominant, 3);
    to[23] = 0;
    memcpy(to + RECORD, rgb, (size_t)height * 3);
}

/*
 * Writes what stands before the records: "barcode\0", then 4 bytes each of the size of a record, h
 * and the version (1), 4 zeros, 8 bytes of T in microseconds.
 */
static void write_head(const struct live_feed *f, uint8_t to[RECORDS_HEAD])
{
    const uint64_t height = (uint64_t)live_feed_height(f);
    memcpy(to, "barcode", 8);
    put_number(RECORD + 3 * height, 4, to + 8);
    put_number(height, 4, to + 12);
    put_number(1, 4, to + 16);
    put_number(0, 4, to + 20);
    put_number((uint64_t)live_feed_period_us(f), 8, to + 24);
}

/* The columns of an answer. They are read from the feed while it is sent. */
struct content {
    struct server *server;
    int64_t first;
    size_t count;
};

static size_t record_size(const struct server *s)
{
    return RECORD + (size_t)live_feed_height(s->feed) * 3;
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
    if (at < RECORDS_HEAD) {
        uint8_t head[RECORDS_HEAD];
        write_head(s->feed, head);
        return (ssize_t)copy_part(head, sizeof head, at, to, most);
    }
    at -= RECORDS_HEAD;
    while (done < most && at < n->count * size) {
        const struct live_column *c = live_feed_get(s->feed, n->first + (int64_t)(at / size), &rgb);
        if (!c)
            return done > 0 ? (ssize_t)done : MHD_CONTENT_READER_END_WITH_ERROR;
        write_record(c, rgb, live_feed_height(s->feed), s->record);
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
        RECORDS_HEAD + n->count * record_size(s), BLOCK, read_columns, n, free);
    if (!r)
        free(n);
    return answer(c, MHD_HTTP_OK, r, "application/octet-stream");
}

/* ------------------------------------------------------------------ the picture */

/* Copies a column into rgb[height][width][3]. */
static void copy_column(const struct live_feed *f, int64_t number, size_t x, size_t width,
                        uint8_t *image)
{
    const uint8_t *rgb;
    const struct live_column *c = live_feed_get(f, number, &rgb);
    for (size_t y = 0; c && y < (size_t)live_feed_height(f); y++) {
        uint8_t *to = image + (y * width + x) * 3;
        if (c->missing)
            memset(to, (x + y) & 4 ? GAP_LIGHT : GAP_DARK, 3);
        else
            memcpy(to, rgb + y * 3, 3);
    }
}

/* Returns the kept columns as a PNG of `*size` bytes, which the caller frees, or NULL. */
static char *make_png(const struct live_feed *f, size_t *size)
{
    struct err none = ERR_INIT;
    const int64_t first = live_feed_oldest(f);
    const size_t width = (size_t)(live_feed_newest(f) - first + 1);
    char *png = NULL;
    uint8_t *image = calloc(width * (size_t)live_feed_height(f), 3);
    FILE *file = image ? open_memstream(&png, size) : NULL;
    bool ok = file != NULL;
    if (ok) {
        for (size_t x = 0; x < width; x++)
            copy_column(f, first + (int64_t)x, x, width, image);
        ok = png_pixels_write(image, (int)width, live_feed_height(f), file, &none);
    }
    if (file && fclose(file) != 0)
        ok = false;
    free(image);
    if (ok)
        return png;
    free(png);
    return NULL;
}

static enum MHD_Result answer_picture(struct server *s, struct MHD_Connection *c)
{
    size_t size;
    if (live_feed_newest(s->feed) == INT64_MIN)
        return answer_text(c, MHD_HTTP_NOT_FOUND, "There is no column yet.\n");
    if (!s->picture || clock_since(s->picture_ns) >= PICTURE_S) {
        char *png = make_png(s->feed, &size);
        if (!png)
            return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "Out of memory.\n");
        if (s->picture)
            MHD_destroy_response(s->picture);
        s->picture = MHD_create_response_from_buffer(size, png, MHD_RESPMEM_MUST_FREE);
        s->picture_ns = clock_ns();
        if (s->picture)
            add_headers(s->picture, "image/png");
    }
    return s->picture ? MHD_queue_response(c, MHD_HTTP_OK, s->picture) : MHD_NO;
}

/* ------------------------------------------------------------------ names */

/* Copies the host of HOST[:PORT] without the brackets of IPv6. Returns false if there is none. */
static bool copy_host(const char *text, char host[HOST])
{
    const bool bracket = *text == '[';
    text += bracket;
    size_t length = strcspn(text, bracket ? "]" : ":");
    const char *rest = text + length + (bracket && text[length] == ']');
    if (length == 0 || length >= HOST || (bracket && text[length] != ']'))
        return false;
    if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
        return false;
    memcpy(host, text, length);
    host[length] = 0;
    return true;
}

static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Returns true if both are the same address or name. */
static bool is_same(const char *a, const char *b)
{
    unsigned char x[16], y[16];
    if (inet_pton(AF_INET6, a, x) == 1 && inet_pton(AF_INET6, b, y) == 1)
        return memcmp(x, y, sizeof x) == 0;
    return strcasecmp(a, b) == 0;
}

static bool is_machine(const char *host)
{
    char name[HOST], local[HOST + 8];
    if (gethostname(name, sizeof name) != 0)
        return false;
    name[HOST - 1] = 0;
    snprintf(local, sizeof local, "%s.local", name);
    return strcasecmp(host, name) == 0 || strcasecmp(host, local) == 0;
}

bool serve_is_own_host(const char *host, const char *served)
{
    char name[HOST];
    if (!host || !copy_host(host, name))
        return false;
    if (is_same(name, served) || is_same(name, "localhost") || is_same(name, "127.0.0.1") ||
        is_same(name, "::1"))
        return true;
    const bool any = is_same(served, "0.0.0.0") || is_same(served, "::");
    return any && (is_address(name) || is_machine(name));
}

bool serve_is_own_origin(const char *origin, const char *host)
{
    if (!origin)
        return true;
    const char *slashes = strstr(origin, "://");
    return slashes && host && strcasecmp(slashes + 3, host) == 0;
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
        return answer_picture(s, c);
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
    if (!serve_is_own_host(host, s->address.host))
        return answer_text(c, MHD_HTTP_FORBIDDEN,
                           "This server has another name: use the address that --serve has.\n");
    if (!serve_is_own_origin(origin, host))
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

int serve_port(const struct server *s)
{
    const union MHD_DaemonInfo *i = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return i ? i->port : 0;
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

/* Returns a socket that listens on the address, without blocking, or -1. */
static int open_listener(const struct serve_address *a, struct err *e)
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
    return fd;
}

static bool start(struct server *s, struct err *e)
{
    s->record = err_calloc(record_size(s), 1, e);
    int listener = s->record ? open_listener(&s->address, e) : -1;
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
            serve_port(s));
    return s;
}

void serve_close(struct server **s)
{
    if (!*s)
        return;
    if ((*s)->daemon)
        MHD_stop_daemon((*s)->daemon);
    if ((*s)->picture)
        MHD_destroy_response((*s)->picture);
    free((*s)->record);
    free(*s);
    *s = NULL;
}
