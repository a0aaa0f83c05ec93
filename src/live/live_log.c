#include "live_log.h"

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

static const char magic[16] = "barcode live 1\n";

struct header {
    char magic[16];
    int64_t step_us;
    int32_t width, height, k, rows, slit_length, slit_x, slit_angle, unused;
    uint64_t checksum; /* of the bytes before */
};

struct live_log {
    int fd;
    char *path;
    struct live_shape shape;
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
    struct header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof h.magic);
    h.step_us = shape->step_us;
    h.width = shape->width;
    h.height = shape->height;
    h.k = shape->k;
    h.rows = shape->rows;
    h.slit_length = shape->slit_length;
    h.slit_x = shape->slit.x;
    h.slit_angle = shape->slit.angle;
    h.checksum = hash_64(&h, offsetof(struct header, checksum));
    return h;
}

/* ------------------------------------------------------------------ records */

static void pack(struct live_log *l, int64_t number, const struct column *c)
{
    live_record_write(&l->shape, number, c, l->record);
    uint64_t sum = checksum_of(l, l->records);
    memcpy(l->record + l->bytes - sizeof sum, &sum, sizeof sum);
}

/* Returns false if the record in l->record, the next one, is not as it was written. */
static bool unpack(struct live_log *l, struct cluster *cluster, int64_t *number, struct column *c)
{
    uint64_t sum;
    memcpy(&sum, l->record + l->bytes - sizeof sum, sizeof sum);
    return sum == checksum_of(l, l->records) &&
           live_record_read(&l->shape, l->record, cluster, number, c) && *number > l->last;
}

/*
 * Gives the records that are as they were written, passes over others, and cuts the file after the
 * last one. A record that cannot be read is no reason to cut.
 */
static bool read_records(struct live_log *l, live_log_each *each, void *user, struct err *e)
{
    struct cluster *clusters = err_calloc((size_t)l->header.k + 1, sizeof *clusters, e);
    bool ok = clusters != NULL;
    int64_t number;
    struct column c;
    uint64_t good = 0, given = 0, at = sizeof l->header;
    for (; ok && file_read_at(l->fd, l->record, l->bytes, at); at += l->bytes, l->records++) {
        if (!unpack(l, clusters, &number, &c))
            continue;
        ok = !each || each(user, number, &c, e);
        l->last = number;
        good = l->records + 1;
        given++;
    }
    int error = errno; /* 0 at the end of the file */
    free(clusters);
    if (ok && error != 0)
        ok = err_set(e, ERR_FAILED, "cannot read '%s': %s", l->path, strerror(error));
    if (ok && l->records > given)
        log_msg(LOG_WARNING, "'%s': damaged columns: %llu", l->path,
                (unsigned long long)(l->records - given));
    l->records = good;
    off_t end = (off_t)(sizeof l->header + good * l->bytes);
    if (ok && (ftruncate(l->fd, end) != 0 || lseek(l->fd, end, SEEK_SET) < 0))
        ok = err_set(e, ERR_FAILED, "cannot write '%s': %s", l->path, strerror(errno));
    return ok;
}

/* ------------------------------------------------------------------ the file */

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
    *shape = (struct live_shape){
        h.step_us, h.width, h.height, h.k, h.rows, h.slit_length, {h.slit_x, h.slit_angle}};
    return live_shape_is_valid(shape);
}

/* Checks the header, or writes that of a new file. A header that is not whole is a new file's. */
static bool begin(struct live_log *l, struct err *e)
{
    struct header there;
    struct stat s;
    if (fstat(l->fd, &s) != 0)
        return err_set(e, ERR_FAILED, "cannot read '%s': %s", l->path, strerror(errno));
    if (s.st_size < (off_t)sizeof there) {
        if (ftruncate(l->fd, 0) == 0 && file_write(l->fd, &l->header, sizeof l->header))
            return true;
        return err_set(e, ERR_FAILED, "cannot write '%s': %s", l->path, strerror(errno));
    }
    if (!file_read_at(l->fd, &there, sizeof there, 0) || !is_header(&there))
        return err_set(e, ERR_USAGE, "'%s' is no log of columns; remove it, or give another -o",
                       l->path);
    if (memcmp(&there, &l->header, sizeof there) != 0)
        return err_set(e, ERR_USAGE,
                       "'%s' has columns of %g s from frames of %dx%d by other options, and not of "
                       "%g s from %dx%d; repeat the options, or give another -o",
                       l->path, (double)there.step_us / 1e6, there.width, there.height,
                       (double)l->header.step_us / 1e6, l->header.width, l->header.height);
    return true;
}

/* Waits a moment for a process that was killed and still ends. */
static bool lock(int fd)
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
    if (!lock(l->fd))
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
    l->shape = *shape;
    l->bytes = live_record_bytes(shape) + sizeof(uint64_t);
    l->record = err_calloc(1, l->bytes, e);
    if (!l->record || !open_file(l, path, e) || !begin(l, e) || !read_records(l, each, user, e))
        live_log_close(&l);
    return l;
}

bool live_log_append(struct live_log *l, int64_t number, const struct column *c, struct err *e)
{
    if (number <= l->last)
        return err_set(e, ERR_FAILED, "'%s': column %lld is there already", l->path,
                       (long long)number);
    pack(l, number, c);
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
