#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "output/formats/json.h"

/* The beginning of every line, and so of every report. */
static const char begins[] = "{\"film\":";

struct report_log {
    const char *path; /* the caller's */
    int fd;
    bool slow;         /* a pipe or a device, where writing may block */
    char *waiting;     /* `slow`: what has not been written yet */
    size_t size, room; /* of `waiting` */
};

static bool cannot(const char *path, struct err *e)
{
    return err_set(e, file_write_code(errno), "cannot write the report '%s': %s", path,
                   strerror(errno));
}

/* Writes to a regular file with one call. A short write means that the disk is full. */
static bool write_bytes(const struct report_log *l, const char *bytes, size_t size)
{
    ssize_t n;
    do
        n = write(l->fd, bytes, size);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && (size_t)n < size)
        errno = ENOSPC;
    return n >= 0 && (size_t)n == size;
}

/*
 * Locks or unlocks the report, to which other processes append, too. Without a lock another process
 * could see the beginning of a line at the end of the file. On a network file system, lines could
 * also interleave. A file system without locks is written without them.
 */
static void lock(const struct report_log *l, short kind)
{
    enum { ATTEMPTS = 100 }; /* 5 s: a program that stands still is not waited for */
    struct flock whole = {.l_type = kind, .l_whence = SEEK_SET};
    const struct timespec moment = {.tv_nsec = 50000000};
    for (int i = 0; i < ATTEMPTS && !l->slow && fcntl(l->fd, F_SETLK, &whole) != 0; i++) {
        if ((errno != EAGAIN && errno != EACCES) || interrupted())
            return;
        nanosleep(&moment, NULL);
    }
}

/* Returns true for an empty file and for a report, and ends its last line if necessary. The caller
 * holds the lock. */
static bool is_report(const struct report_log *l, struct err *e)
{
    struct stat s;
    char head[sizeof begins - 1], last;
    if (fstat(l->fd, &s) != 0)
        return cannot(l->path, e);
    if (!S_ISREG(s.st_mode) || s.st_size == 0)
        return true;
    bool fits = s.st_size > (off_t)sizeof head && file_read_at(l->fd, head, sizeof head, 0) &&
                memcmp(head, begins, sizeof head) == 0;
    if (!fits || !file_read_at(l->fd, &last, 1, (uint64_t)s.st_size - 1))
        return err_set(e, ERR_FAILED,
                       "cannot write the report '%s': the file exists and is not a barcode "
                       "report; choose another name with --report",
                       l->path);
    return last == '\n' || write_bytes(l, "\n", 1) || cannot(l->path, e);
}

struct report_log *report_log_open(const char *path, struct err *e)
{
    struct report_log *l = err_calloc(1, sizeof *l, e);
    struct stat s;
    if (!l)
        return NULL;
    bool to_stdout = strcmp(path, "-") == 0;
    l->path = atomic_file_shown(path);
    l->slow = to_stdout || (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
    l->fd = l->slow ? slow_open(to_stdout ? "/dev/stdout" : path, true)
                    : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (l->fd < 0)
        cannot(l->path, e);
    bool ok = l->fd >= 0;
    if (ok && !l->slow) {
        lock(l, F_WRLCK);
        ok = is_report(l, e);
        lock(l, F_UNLCK);
    }
    if (!ok)
        (void)report_log_close(&l, NULL);
    return l;
}

bool report_log_made(const char *path)
{
    char head[sizeof begins - 1];
    return file_read_begin(path, head, sizeof head) == sizeof head &&
           memcmp(head, begins, sizeof head) == 0;
}

static json_t *list_of_warnings(const struct report_entry *entry)
{
    json_t *list = json_array();
    for (int i = 0; i < entry->warnings; i++)
        list = writer_json_append(list, writer_json_bytes(entry->warning[i]));
    return list;
}

static json_t *list_of_outputs(const struct report_entry *entry)
{
    json_t *list = json_array();
    for (size_t i = 0; i < entry->outputs; i++)
        list = writer_json_append(list, writer_json_bytes(entry->output[i]));
    return list;
}

/* Returns the current time in ISO 8601. */
static json_t *time_value(void)
{
    char text[TEXT_UTC];
    text_utc((int64_t)time(NULL) * 1000000, false, text);
    return json_string(text);
}

/* Returns the line, with its keys in this order, or NULL if out of memory. The caller frees it. */
static char *make_line(const struct report_entry *entry, size_t *size)
{
    static const char *const status[] = {"done", "left_out", "failed", "interrupted"};
    json_t *value = json_pack(
        "{so ss so si so so so so so}", "film", writer_json_bytes(entry->film), "status",
        status[entry->status], "reason", writer_json_bytes(entry->reason), "exit", entry->exit,
        "seconds", writer_json_seconds(entry->seconds), "columns",
        entry->columns < 0 ? json_null() : json_integer(entry->columns), "warnings",
        list_of_warnings(entry), "outputs", list_of_outputs(entry), "finished", time_value());
    char *line = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(value);
    char *longer = line ? realloc(line, strlen(line) + 2) : NULL;
    if (!longer) {
        free(line);
        return NULL;
    }
    *size = strlen(longer) + 1;
    memcpy(longer + *size - 1, "\n", 2);
    return longer;
}

/* Keeps a line behind those that wait, and writes of them what the pipe takes. */
static bool write_slowly(struct report_log *l, const char *line, size_t size, struct err *e)
{
    struct pollfd p = {.fd = l->fd, .events = POLLOUT};
    size_t done = 0;
    if (!err_reserve(&l->waiting, l->size + size, &l->room, 1, e))
        return false;
    memcpy(l->waiting + l->size, line, size);
    l->size += size;
    /* A pipe that poll reports as ready has room for PIPE_BUF bytes. A larger write would block. */
    while (done < l->size && poll(&p, 1, 0) > 0) {
        size_t left = l->size - done;
        ssize_t n = write(l->fd, l->waiting + done, left < PIPE_BUF ? left : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return cannot(l->path, e);
        done += n > 0 ? (size_t)n : 0;
    }
    l->size -= done;
    memmove(l->waiting, l->waiting + done, l->size);
    return true;
}

bool report_log_add(struct report_log *l, const struct report_entry *entry, struct err *e)
{
    size_t size;
    if (!l)
        return true;
    char *line = make_line(entry, &size);
    if (!line)
        return err_memory(e, 4096);
    lock(l, F_WRLCK);
    bool done = l->slow ? write_slowly(l, line, size, e) : write_bytes(l, line, size);
    if (!done && !l->slow)
        cannot(l->path, e);
    lock(l, F_UNLCK);
    free(line);
    return done;
}

bool report_log_close(struct report_log **log, struct err *e)
{
    struct report_log *l = *log;
    if (!l)
        return true;
    bool done = true;
    if (l->size > 0 && !slow_write(l->fd, l->waiting, l->size) && !interrupted())
        done = cannot(l->path, e);
    if (l->fd >= 0)
        close(l->fd);
    free(l->waiting);
    free(l);
    *log = NULL;
    return done;
}
