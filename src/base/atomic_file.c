#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "atomic_target.h"
#include "file.h"
#include "file_request.h"
#include "interrupt.h"
#include "path.h"
#include "slow_file.h"

enum { STREAM_BUFFER = 1 << 16 };

/* An output that this process, or its parent, gives its name. */
struct place {
    struct atomic_target *target; /* NULL: the parent has it */
    int file;                     /* the parent's; -1: none */
};

struct atomic_file {
    FILE *stream;
    char *shown; /* as the caller named it, for messages */
    struct place place;
    bool slow; /* a device or pipe */
    int fd;    /* of `stream` */
};

struct atomic_folder {
    char *shown;
    struct place place;
};

static bool cannot(const char *path, int error, struct err *e)
{
    if (error == EINTR && interrupted())
        return interrupt_output(path, e);
    return err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(error));
}

bool atomic_file_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || file_descriptor(path) == STDOUT_FILENO;
}

/* ---- Places ---- */

/* Begins an output. Returns a descriptor to write to, or -1 with errno. */
static int begin_place(struct place *p, const char *path)
{
    *p = (struct place){.file = -1};
    if (file_ask)
        return file_ask(FILE_WRITE, path, &p->file);
    p->target = atomic_target_open(path);
    return p->target ? fcntl(atomic_target_descriptor(p->target), F_DUPFD_CLOEXEC, 0) : -1;
}

/* As begin_place, but waits for the reader of a FIFO. */
static int wait_for_place(struct place *p, const char *path)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    int fd;
    /* ENXIO: the FIFO has no reader yet. A socket also gives ENXIO, but permanently. */
    while ((fd = begin_place(p, path)) < 0 && errno == ENXIO && slow_is_fifo(path)) {
        if (interrupted()) {
            errno = EINTR;
            return -1;
        }
        nanosleep(&moment, NULL);
    }
    return fd;
}

/* Gives the output its name. The place is empty then. Returns false with errno. */
static bool publish_place(struct place *p)
{
    if (p->target)
        return atomic_target_publish(&p->target);
    bool ok = p->file < 0 || file_ask(FILE_PUBLISH, NULL, &p->file) == 0;
    p->file = -1;
    return ok;
}

static void discard_place(struct place *p)
{
    if (p->file >= 0)
        (void)file_ask(FILE_DISCARD, NULL, &p->file);
    atomic_target_discard(&p->target);
}

/* ---- Streams ---- */

static bool refuse_terminal(int fd, const char *name, struct err *e)
{
    if (!isatty(fd))
        return true;
    return err_set(e, ERR_USAGE,
                   "%s is a terminal, where a picture would be noise: name a file with --output",
                   name);
}

/* Writes for fopencookie, which expects 0 and errno on error. */
static ssize_t write_slowly(void *cookie, const char *bytes, size_t size)
{
    const struct atomic_file *f = cookie;
    return slow_write(f->fd, bytes, size) ? (ssize_t)size : 0;
}

static int close_slow(void *cookie)
{
    const struct atomic_file *f = cookie;
    return close(f->fd);
}

/*
 * Opens the stream over `fd`; closing the stream closes `fd`. `fd` may be a full pipe, where a
 * plain write would block despite signals.
 */
static bool open_stream(struct atomic_file *f, int fd)
{
    struct stat st;
    f->fd = fd;
    f->slow = fstat(fd, &st) != 0 || !S_ISREG(st.st_mode);
    f->stream =
        !f->slow ? fdopen(fd, "wb")
                 : fopencookie(f, "wb",
                               (cookie_io_functions_t){.write = write_slowly, .close = close_slow});
    if (!f->stream)
        return false;
    setvbuf(f->stream, NULL, _IOFBF, STREAM_BUFFER);
    return true;
}

/* Returns a file that is not open yet, or NULL if out of memory. */
static struct atomic_file *new_file(const char *shown, struct err *e)
{
    struct atomic_file *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->place.file = -1;
    f->shown = strdup(shown);
    if (f->shown)
        return f;
    free(f);
    err_memory(e, strlen(shown) + 1);
    return NULL;
}

/* Opens the stream of `f` over `fd`. On failure frees `f` and returns NULL. */
static struct atomic_file *with_stream(struct atomic_file *f, int fd, struct err *e)
{
    if (fd >= 0 && open_stream(f, fd))
        return f;
    cannot(f->shown, errno, e);
    if (fd >= 0)
        close(fd);
    atomic_file_discard(&f);
    return NULL;
}

struct atomic_file *atomic_file_open(const char *path, bool binary, struct err *e)
{
    bool to_stdout = strcmp(path, "-") == 0;
    struct atomic_file *f = new_file(to_stdout ? "standard output" : path, e);
    if (!f)
        return NULL;
    int fd = wait_for_place(&f->place, to_stdout ? "/dev/stdout" : path);
    if (fd < 0 || !binary || refuse_terminal(fd, f->shown, e))
        return with_stream(f, fd, e);
    close(fd);
    atomic_file_discard(&f);
    return NULL;
}

FILE *atomic_file_stream(struct atomic_file *f) { return f->stream; }

/*
 * Writes a large file to the disk in steps: one fsync of it may take minutes on a slow disk, and
 * would look as if the film hung. fsync reports the errors.
 */
static void write_back(int fd)
{
    const off_t step = 64 << 20;
    const unsigned whole =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    struct stat s;
    off_t size = fstat(fd, &s) == 0 ? s.st_size : 0;
    for (off_t at = 0; size - at > step && !interrupted(); at += step)
        sync_file_range(fd, at, step, whole);
}

/* Flushes the stream and syncs the file to the disk. Returns 0 or an errno value. */
static int flush(struct atomic_file *f)
{
    errno = 0;
    if (fflush(f->stream) != 0)
        return errno ? errno : EIO;
    if (ferror(f->stream)) /* from an earlier write whose result was ignored */
        return EIO;
    if (f->slow)
        return 0;
    write_back(f->fd);
    /* EINVAL, ENOTSUP and ENOSYS: the file system has no fsync */
    bool synced = fsync(f->fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
    return synced ? 0 : errno;
}

bool atomic_file_commit(struct atomic_file **file, struct err *e)
{
    struct atomic_file *f = *file;
    int error = flush(f);
    if (fclose(f->stream) != 0 && error == 0)
        error = errno;
    f->stream = NULL;
    if (error == 0 && !publish_place(&f->place))
        error = errno;
    if (error != 0)
        cannot(f->shown, error, e);
    atomic_file_discard(file);
    return error == 0;
}

void atomic_file_discard(struct atomic_file **file)
{
    struct atomic_file *f = *file;
    if (!f)
        return;
    if (f->stream)
        fclose(f->stream);
    discard_place(&f->place);
    free(f->shown);
    free(f);
    *file = NULL;
}

/* ---- Folders ---- */

struct atomic_folder *atomic_folder_open(const char *path, atomic_is_own *is_own, struct err *e)
{
    struct atomic_folder *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->place.file = -1;
    f->shown = strdup(path);
    char *first = path_join(path, "0.jpg", "", e);
    bool ok = (f->shown && first) || err_memory(e, strlen(path) + 1);
    if (ok && file_ask)
        ok = file_ask(FILE_FOLDER, first, &f->place.file) == 0;
    else if (ok)
        ok = (f->place.target = atomic_target_open_folder(path, is_own)) != NULL;
    int error = errno;
    free(first);
    errno = error;
    if (ok)
        return f;
    if (errno == ENOTEMPTY)
        err_set(e, ERR_FAILED, "cannot write '%s': it has a file that barcode did not make", path);
    cannot(path, errno, e);
    atomic_folder_discard(&f);
    return NULL;
}

struct atomic_file *atomic_folder_add(struct atomic_folder *folder, const char *name, struct err *e)
{
    struct atomic_file *f = new_file(folder->shown, e);
    if (!f)
        return NULL;
    int fd = folder->place.target ? atomic_target_add(folder->place.target, name)
                                  : file_ask(FILE_ADD, name, &folder->place.file);
    return with_stream(f, fd, e);
}

bool atomic_folder_commit(struct atomic_folder **folder, struct err *e)
{
    struct atomic_folder *f = *folder;
    bool ok = publish_place(&f->place);
    if (!ok)
        cannot(f->shown, errno, e);
    atomic_folder_discard(folder);
    return ok;
}

void atomic_folder_discard(struct atomic_folder **folder)
{
    struct atomic_folder *f = *folder;
    if (!f)
        return;
    discard_place(&f->place);
    free(f->shown);
    free(f);
    *folder = NULL;
}
