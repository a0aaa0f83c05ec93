#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "path.h"
#include "watch.h"
#include "interrupt.h"

file_asking *file_ask;

bool file_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    uint8_t *out = to;
    while (bytes > 0) {
        ssize_t n = pread(fd, out, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return false;
        out += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

bool file_stdout_is_abandoned(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)) != 0;
}

enum err_code file_write_code(int error)
{
    bool gone = error == EPIPE && !file_ask && file_stdout_is_abandoned();
    return gone ? ERR_PIPE : ERR_FAILED;
}

bool file_end_stdout(FILE *out, bool ok, struct err *e)
{
    if (ok && fflush(out) == 0 && !ferror(out))
        return true;
    return err_set(e, file_write_code(errno), "cannot write 'standard output': %s",
                   strerror(errno ? errno : EIO));
}

bool file_write(int fd, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        ssize_t n = write(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        watch_moved();
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

int file_open_scratch(const char *folder)
{
    static const char name[] = "/.barcode.XXXXXX";
    if (file_ask)
        return file_ask(FILE_SCRATCH, NULL, NULL);
    size_t bytes = strlen(folder) + sizeof name;
    char *path = malloc(bytes);
    if (!path)
        return -1;
    snprintf(path, bytes, "%s%s", folder, name);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

bool file_is_fault(int error)
{
    static const int others[] = {0,     EBADF,  EINTR, ENOENT,       ENOTDIR, EACCES,
                                 EPERM, EISDIR, ELOOP, ENAMETOOLONG, ENXIO,   ENODEV};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (error == others[i])
            return false;
    return true;
}

int file_descriptor(const char *path)
{
    static const char *const name[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++)
        if (strcmp(path, name[i]) == 0)
            return i;
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        size_t length = strlen(folder[i]);
        if (strncmp(path, folder[i], length) != 0 || path[length] == 0)
            continue;
        char *end;
        long number = strtol(path + length, &end, 10);
        return *end == 0 && number >= 0 && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

bool file_is_regular(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

int file_open_read(const char *path)
{
    int number = file_descriptor(path);
    if (file_ask)
        return file_ask(FILE_READ, path, NULL);
    if (number >= 0)
        return fcntl(number, F_DUPFD_CLOEXEC, 0);
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

FILE *file_open_regular(const char *path)
{
    int fd = file_is_regular(path) ? file_open_read(path) : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

size_t file_read_begin(const char *path, void *to, size_t bytes)
{
    FILE *f = file_open_regular(path);
    size_t size = f ? fread(to, 1, bytes, f) : 0;
    if (f)
        fclose(f);
    return size;
}

bool file_is_dangling(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode) && stat(path, &s) != 0;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool file_same(const char *a, const char *b)
{
    struct stat sa, sb;
    bool found_a = stat(a, &sa) == 0, found_b = stat(b, &sb) == 0;
    if (found_a && found_b)
        return S_ISREG(sa.st_mode) && same_inode(&sa, &sb);
    if (found_a || found_b)
        return false;
    size_t na, nb;
    const char *last_a = path_last(a, &na), *last_b = path_last(b, &nb);
    if (na != nb || memcmp(last_a, last_b, na) != 0)
        return false;
    char *up_a = strndup(a, (size_t)(last_a - a)), *up_b = strndup(b, (size_t)(last_b - b));
    found_a = up_a && stat(*up_a ? up_a : ".", &sa) == 0;
    found_b = up_b && stat(*up_b ? up_b : ".", &sb) == 0;
    bool same = found_a && found_b && same_inode(&sa, &sb);
    if (up_a && up_b && !found_a && !found_b)
        same = strcmp(up_a, up_b) == 0; /* a folder that does not exist yet */
    free(up_a);
    free(up_b);
    return same;
}

/* ---- Files that can block ---- */

enum { WAIT_MS = 100 };

/*
 * Waits until the descriptor is ready or at its end. A signal does not interrupt a blocking read or
 * write: the handlers restart it, and the kernel may deliver the signal to another thread. If
 * `patient`, the wait counts as progress of the film.
 */
static bool wait_for(int fd, short events, bool patient)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        if (patient ? interrupted() : interrupt_pending()) {
            errno = EINTR;
            return false;
        }
        int n = poll(&p, 1, WAIT_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
    }
}

bool slow_is_fifo(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISFIFO(s.st_mode);
}

int slow_open(const char *path, bool writing)
{
    int number = file_descriptor(path);
    if (!writing)
        return file_open_read(path);
    if (number >= 0)
        return fcntl(number, F_DUPFD_CLOEXEC, 0);
    for (;;) {
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        /* ENXIO: the FIFO has no reader yet. A socket also gives ENXIO, but permanently. */
        if (fd >= 0 || errno != ENXIO || !slow_is_fifo(path))
            return fd;
        if (interrupted()) {
            errno = EINTR;
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = WAIT_MS / 2 * 1000000L}, NULL);
    }
}

ssize_t slow_read(int fd, void *to, size_t bytes, bool patient)
{
    /* An empty FIFO without a writer so far is not at its end. Only poll can distinguish this. */
    while (wait_for(fd, POLLIN, patient)) {
        ssize_t n = read(fd, to, bytes);
        if (n > 0)
            watch_moved();
        if (n >= 0 || (errno != EINTR && errno != EAGAIN))
            return n;
    }
    return -1;
}

bool slow_write(int fd, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    while (bytes > 0) {
        if (!wait_for(fd, POLLOUT, true))
            return false;
        /* A pipe that is ready has room for PIPE_BUF bytes. A larger write would block. */
        ssize_t n = write(fd, at, bytes < PIPE_BUF ? bytes : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}
