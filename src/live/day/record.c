#include "day.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "output/modes/strip.h"

/* ------------------------------------------------------------------ what a record contains */

struct live_shape live_shape_of(const struct report *r, int width, int height)
{
    struct live_shape s = {.step_us = r->analysis.selection.interval_us,
                           .width = width,
                           .height = height,
                           .k = r->analysis.needs & STRIP_CLUSTERS ? r->analysis.kmeans.k : 0,
                           .rows = r->analysis.needs & STRIP_ROWS ? height : 0};
    if (r->analysis.needs & STRIP_SLIT) {
        struct slit_line *line = slit_line_open(&r->picture.slit, width, height, NULL);
        s.slit = r->picture.slit;
        s.slit_length = line ? line->length : 0;
        slit_line_free(&line);
    }
    return s;
}

static bool is_within(int value, int least, int most) { return value >= least && value <= most; }

bool live_shape_is_valid(const struct live_shape *s)
{
    enum { SIDE = 16384, CLUSTERS = 64, SLIT = 32768 };
    return s->step_us > 0 && is_within(s->width, 1, SIDE) && is_within(s->height, 1, SIDE) &&
           is_within(s->k, 0, CLUSTERS) && is_within(s->rows, 0, SIDE) &&
           is_within(s->slit_length, 0, SLIT);
}

/* ------------------------------------------------------------------ a record */

struct head {
    int64_t number;
    uint8_t status, clusters, chosen, unused[5];
    uint8_t average[3], dominant[3], unused_too[2];
};

size_t live_record_bytes(const struct live_shape *s)
{
    return sizeof(struct head) + (size_t)s->k * sizeof(struct cluster) +
           ((size_t)s->rows + (size_t)s->slit_length) * 3;
}

void live_record_write(const struct live_shape *s, int64_t number, const struct column *c,
                       uint8_t *to)
{
    const size_t rows = (size_t)s->rows * 3;
    struct head head = {
        .number = number, .status = c->status, .clusters = c->clusters, .chosen = c->chosen};
    memcpy(head.average, c->average, 3);
    memcpy(head.dominant, c->dominant, 3);
    memset(to, 0, live_record_bytes(s));
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (s->k > 0 && c->cluster)
        memcpy(to, c->cluster, c->clusters * sizeof *c->cluster);
    to += (size_t)s->k * sizeof *c->cluster;
    if (rows > 0 && c->row)
        memcpy(to, c->row, rows);
    if (s->slit_length > 0 && c->slit)
        memcpy(to + rows, c->slit, (size_t)s->slit_length * 3);
}

/*
 * Returns true if the clusters can be those of a frame. Painters divide by the sum of the counts.
 */
static bool are_clusters(const struct live_shape *s, const struct head *head,
                         const struct cluster *cluster)
{
    const uint64_t most = (uint64_t)s->width * (uint64_t)s->height;
    uint64_t sum = 0;
    if (s->k == 0)
        return head->clusters == 0 && head->chosen == 0;
    if (head->clusters == 0 || head->clusters > s->k || head->chosen >= head->clusters)
        return false;
    for (int i = 0; i < head->clusters; i++) {
        if (cluster[i].count == 0)
            return false;
        sum += cluster[i].count;
    }
    return sum <= most;
}

bool live_record_read(const struct live_shape *s, uint8_t *from, struct cluster *cluster,
                      int64_t *number, struct column *c)
{
    struct head head;
    const size_t bytes = (size_t)s->k * sizeof *cluster;
    memcpy(&head, from, sizeof head);
    memcpy(cluster, from + sizeof head, bytes);
    uint8_t *row = from + sizeof head + bytes;
    if ((head.status != COLUMN_OK && head.status != COLUMN_DAMAGED) ||
        !are_clusters(s, &head, cluster))
        return false;
    *number = head.number;
    *c = (struct column){.repeat = 1,
                         .status = head.status,
                         .clusters = head.clusters,
                         .chosen = head.chosen,
                         .cluster = s->k > 0 ? cluster : NULL,
                         .row = s->rows > 0 ? row : NULL,
                         .slit = s->slit_length > 0 ? row + (size_t)s->rows * 3 : NULL};
    memcpy(c->average, head.average, 3);
    memcpy(c->dominant, head.dominant, 3);
    return true;
}

/* ------------------------------------------------------------------ the mean colour */

void live_average_frame(struct live_average *a, const uint8_t *rgb, int width, int height,
                        const struct light_table *means)
{
    size_t pixels = (size_t)width * (size_t)height;
    for (int y = 0; y < height && means; y++) {
        uint32_t row[3];
        column_row_light(means, rgb + (size_t)y * (size_t)width * 3, width, row);
        for (int c = 0; c < 3; c++)
            a->sum[c] += row[c];
    }
    for (size_t i = 0; i < pixels && !means; i++)
        for (int c = 0; c < 3; c++)
            a->sum[c] += rgb[i * 3 + (size_t)c];
    a->count += means ? (uint64_t)height : pixels;
}

void live_average_add(struct live_average *a, const struct live_average *more)
{
    for (int c = 0; c < 3; c++)
        a->sum[c] += more->sum[c];
    a->count += more->count;
}

void live_average_colour(const struct live_average *a, const struct light_table *means,
                         uint8_t rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = means ? light_to_byte(means, (uint32_t)((a->sum[c] + a->count / 2) / a->count))
                       : (uint8_t)((2 * a->sum[c] + a->count) / (2 * a->count));
}

/* ------------------------------------------------------------------ the log */

static const char magic[16] = "barcode live 1\n";

struct header {
    char magic[16];
    struct live_shape shape;
    uint64_t checksum; /* of the bytes before */
};

_Static_assert(sizeof(struct header) == 64, "the header of a log has no padding");

struct live_log {
    int fd;
    char *path;
    struct header header;
    size_t bytes; /* of a record with its checksum */
    uint8_t *record;
    uint64_t records;
    int64_t last;
};

static uint64_t checksum_of(const struct live_log *l, uint64_t place)
{
    uint64_t part[3] = {hash_64(l->record, l->bytes - sizeof(uint64_t)), place, l->header.checksum};
    return hash_64(part, sizeof part);
}

static struct header header_of(const struct live_shape *shape)
{
    struct header h = {.shape = *shape};
    memcpy(h.magic, magic, sizeof h.magic);
    h.checksum = hash_64(&h, offsetof(struct header, checksum));
    return h;
}

static void pack_record(struct live_log *l, int64_t number, const struct column *c)
{
    live_record_write(&l->header.shape, number, c, l->record);
    uint64_t sum = checksum_of(l, l->records);
    memcpy(l->record + l->bytes - sizeof sum, &sum, sizeof sum);
}

/* Returns false if the record in l->record, the next one, is not as it was written. */
static bool unpack_record(struct live_log *l, struct cluster *cluster, int64_t *number,
                          struct column *c)
{
    uint64_t sum;
    memcpy(&sum, l->record + l->bytes - sizeof sum, sizeof sum);
    return sum == checksum_of(l, l->records) &&
           live_record_read(&l->header.shape, l->record, cluster, number, c) && *number > l->last;
}

/*
 * Calls `each` for the records that are as they were written, skips others, and cuts the file after
 * the last one. A record that cannot be read is no reason to cut.
 */
static bool read_records(struct live_log *l, live_log_each *each, void *user, struct err *e)
{
    struct cluster *clusters = err_calloc((size_t)l->header.shape.k + 1, sizeof *clusters, e);
    bool ok = clusters != NULL;
    int64_t number;
    struct column c;
    uint64_t good = 0, intact = 0, at = sizeof l->header;
    for (; ok && file_read_at(l->fd, l->record, l->bytes, at); at += l->bytes, l->records++) {
        if (!unpack_record(l, clusters, &number, &c))
            continue;
        ok = !each || each(user, number, &c, e);
        l->last = number;
        good = l->records + 1;
        intact++;
    }
    int error = errno; /* 0 at the end of the file */
    free(clusters);
    if (ok && error != 0)
        ok = err_set(e, ERR_FAILED, "cannot read '%s': %s", l->path, strerror(error));
    if (ok && l->records > intact)
        log_msg(LOG_WARNING, "'%s': damaged columns: %llu", l->path,
                (unsigned long long)(l->records - intact));
    l->records = good;
    off_t end = (off_t)(sizeof l->header + good * l->bytes);
    if (ok && (ftruncate(l->fd, end) != 0 || lseek(l->fd, end, SEEK_SET) < 0))
        ok = err_set(e, ERR_FAILED, "cannot write '%s': %s", l->path, strerror(errno));
    return ok;
}

static bool is_header(const struct header *h)
{
    return memcmp(h->magic, magic, sizeof magic) == 0 &&
           h->checksum == hash_64(h, offsetof(struct header, checksum));
}

bool live_log_shape(const char *path, struct live_shape *shape)
{
    struct header h;
    if (file_read_begin(path, &h, sizeof h) != sizeof h || !is_header(&h))
        return false;
    *shape = h.shape;
    return live_shape_is_valid(shape);
}

/* Checks the header, or writes that of a new file. A header that is not whole is a new file's. */
static bool check_header(struct live_log *l, struct err *e)
{
    struct header found;
    struct stat s;
    if (fstat(l->fd, &s) != 0)
        return err_set(e, ERR_FAILED, "cannot read '%s': %s", l->path, strerror(errno));
    if (s.st_size < (off_t)sizeof found) {
        if (ftruncate(l->fd, 0) == 0 && file_write(l->fd, &l->header, sizeof l->header))
            return true;
        return err_set(e, ERR_FAILED, "cannot write '%s': %s", l->path, strerror(errno));
    }
    if (!file_read_at(l->fd, &found, sizeof found, 0) || !is_header(&found))
        return err_set(e, ERR_USAGE, "'%s' is no log of columns; remove it, or give another -o",
                       l->path);
    if (memcmp(&found, &l->header, sizeof found) != 0)
        return err_set(e, ERR_USAGE,
                       "'%s' has columns of %g s from frames of %dx%d by other options, and not of "
                       "%g s from %dx%d; repeat the options, or give another -o",
                       l->path, (double)found.shape.step_us / 1e6, found.shape.width,
                       found.shape.height, (double)l->header.shape.step_us / 1e6,
                       l->header.shape.width, l->header.shape.height);
    return true;
}

/* Waits a moment for a process that was killed and still ends. */
static bool lock_file(int fd)
{
    enum { ATTEMPTS = 100, PAUSE_NS = 20000000 };
    for (int i = 0; i < ATTEMPTS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return false;
}

static bool open_file(struct live_log *l, const char *path, struct err *e)
{
    l->path = strdup(path);
    if (!l->path)
        return err_memory(e, strlen(path) + 1);
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (l->fd < 0)
        return err_set(e, ERR_FAILED, "cannot open '%s': %s", path, strerror(errno));
    if (!lock_file(l->fd))
        return err_set(e, ERR_FAILED, "'%s' is in use by another process", path);
    return true;
}

struct live_log *live_log_open(const char *path, const struct live_shape *shape,
                               live_log_each *each, void *user, struct err *e)
{
    struct live_log *l = err_calloc(1, sizeof *l, e);
    if (!l)
        return NULL;
    l->fd = -1;
    l->last = INT64_MIN;
    l->header = header_of(shape);
    l->bytes = live_record_bytes(shape) + sizeof(uint64_t);
    l->record = err_calloc(1, l->bytes, e);
    if (!l->record || !open_file(l, path, e) || !check_header(l, e) ||
        !read_records(l, each, user, e))
        live_log_close(&l);
    return l;
}

bool live_log_append(struct live_log *l, int64_t number, const struct column *c, struct err *e)
{
    if (number <= l->last)
        return err_set(e, ERR_FAILED, "'%s': column %lld is there already", l->path,
                       (long long)number);
    pack_record(l, number, c);
    if (!file_write(l->fd, l->record, l->bytes)) {
        int error = errno;
        off_t end = (off_t)(sizeof l->header + l->records * l->bytes);
        /* What is left of a record there would be cut at the next opening. */
        if (ftruncate(l->fd, end) == 0)
            (void)lseek(l->fd, end, SEEK_SET);
        return err_set(e, ERR_FAILED, "cannot write '%s': %s", l->path, strerror(error));
    }
    l->last = number;
    l->records++;
    return true;
}

int64_t live_log_last(const struct live_log *l) { return l->last; }

void live_log_close(struct live_log **l)
{
    if (!*l)
        return;
    if ((*l)->fd >= 0)
        close((*l)->fd);
    free((*l)->record);
    free((*l)->path);
    free(*l);
    *l = NULL;
}
