#include "barcode/base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/path.h"
#include "barcode/base/slow_file.h"

enum { LINKS_MAX = 40, TRIES_MAX = 100, STREAM_BUFFER = 1 << 16 };

struct atomic_file {
    FILE *stream;
    char *shown;  /* as the caller named it, for messages */
    char *target; /* what rename replaces: `shown` with links followed */
    char *temp;   /* NULL if `stream` writes to the target directly (stdout, device) */
    int doomed;   /* number for interrupt_spare */
    int fd;       /* descriptor of a stream without a temporary file */
};

static bool cannot(const char *path, int error, struct err *e)
{
    if (error == EINTR && interrupted())
        return interrupt_output(path, e);
    return err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(error));
}

/*
 * Returns true if a link may be followed: the kernel's rule of fs.protected_symlinks, which
 * readlink would evade. In a folder such as /tmp only the links of this user and of the folder's
 * owner are.
 */
static bool may_follow(const char *path, const struct stat *link)
{
    struct stat folder;
    char *name = path_beside(path, ".", NULL);
    bool known = name && stat(name, &folder) == 0;
    free(name);
    return known && (link->st_uid == geteuid() || link->st_uid == folder.st_uid ||
                     (folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH));
}

/*
 * Reads the symbolic link at `path`. Returns 0 if it is none, or nothing is there. Returns -1 with
 * errno on failure, also if the link may not be followed.
 */
static ssize_t read_link(const char *path, char *to, size_t room)
{
    struct stat link;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    ssize_t length = -1;
    if (fstat(fd, &link) == 0 && !S_ISLNK(link.st_mode))
        length = 0;
    else if (may_follow(path, &link))
        length = readlinkat(fd, "", to, room); /* of the link that was checked */
    else
        errno = EACCES;
    int error = errno;
    close(fd);
    errno = error;
    return length;
}

/* The user means the file that a link points to, but rename would replace the link itself. */
char *atomic_file_target(const char *path)
{
    char *at = strdup(path);
    for (int i = 0; at && i < LINKS_MAX; i++) {
        char link[PATH_MAX];
        ssize_t length = read_link(at, link, sizeof link - 1);
        if (length == 0)
            return at;
        if (length < 0) {
            int error = errno;
            free(at);
            errno = error;
            return NULL;
        }
        link[length] = 0;
        char *next = link[0] == '/' ? strdup(link) : path_beside(at, link, NULL);
        free(at);
        at = next;
    }
    if (at) {
        free(at);
        errno = ELOOP;
    }
    return NULL;
}

bool atomic_file_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || file_descriptor(path) == STDOUT_FILENO;
}

char *atomic_file_temporary(const char *target)
{
    /* 32 letters: five bits each */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    char *folder = path_beside(target, ".", NULL);
    if (!folder)
        return NULL;
    long limit = pathconf(folder, _PC_NAME_MAX);
    free(folder);
    size_t extra = strlen("..XXXXXX.tmp"), length = strlen(name);
    size_t most =
        limit > (long)extra && limit < NAME_MAX ? (size_t)limit - extra : NAME_MAX - extra;
    if (length > most)
        length = most;
    while (length > 0 && length == most && ((unsigned char)name[length] & 0xc0) == 0x80)
        most = --length; /* do not split a UTF-8 character */

    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint32_t)getpid();
    char end[] = ".XXXXXX.tmp", temp[NAME_MAX + 1];
    for (int i = 1; i <= 6; i++, random >>= 5)
        end[i] = letters[random & 31];
    snprintf(temp, sizeof temp, ".%.*s%s", (int)length, name, end);
    return path_beside(target, temp, NULL);
}

/* Unregisters and frees the temporary name: the file was renamed, removed or never created. */
static void forget_temp(struct atomic_file *f)
{
    interrupt_spare(f->doomed);
    free(f->temp);
    f->temp = NULL;
}

/*
 * Creates the temporary file. Uses open() rather than mkstemp(), so that the kernel applies the
 * umask and the folder's default ACL. Reading the umask here would change it for other threads.
 */
static int open_temp(struct atomic_file *f)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        f->temp = atomic_file_temporary(f->target);
        if (!f->temp) {
            errno = ENOMEM;
            return -1;
        }
        /* Register the name before the file exists, so that a killing signal always finds it. */
        f->doomed = interrupt_doom(f->temp);
        int fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int error = errno;
        forget_temp(f);
        errno = error;
        if (error != EEXIST)
            return -1;
    }
    return -1;
}

/* Gives the new file the old file's owner and permissions, if this user may set them. */
static void inherit(int fd, const struct stat *old)
{
    struct stat made;
    if (fstat(fd, &made) == 0 && (made.st_uid != old->st_uid || made.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        errno = 0; /* only root and group members may; otherwise the file stays this user's */
    if (fchmod(fd, old->st_mode & 0777) != 0)
        errno = 0; /* the file system has no permissions */
}

/*
 * Opens the temporary file, or the path itself if it is a device or pipe. Returns -1 with errno on
 * failure.
 */
static int open_path(struct atomic_file *f)
{
    if (file_descriptor(f->shown) >= 0)
        return slow_open(f->shown, true);

    struct stat old;
    bool there = stat(f->shown, &old) == 0;
    if (!there && errno != ENOENT)
        return -1;
    size_t length = strlen(f->shown);
    if ((there && S_ISDIR(old.st_mode)) || (length > 0 && f->shown[length - 1] == '/')) {
        errno = EISDIR;
        return -1;
    }
    if (length == 0) {
        errno = ENOENT;
        return -1;
    }
    if (there && !S_ISREG(old.st_mode))
        return slow_open(f->shown, true);
    if (there && faccessat(AT_FDCWD, f->shown, W_OK, AT_EACCESS) != 0)
        return -1;
    f->target = atomic_file_target(f->shown);
    if (!f->target)
        return -1;
    int fd = open_temp(f);
    if (fd >= 0 && there)
        inherit(fd, &old);
    return fd;
}

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
 * Opens the stream over `fd`; closing the stream closes `fd`. Without a temporary file, `fd` may be
 * a full pipe, where a plain write would block despite signals.
 */
static bool open_stream(struct atomic_file *f, int fd)
{
    f->fd = fd;
    f->stream =
        f->temp ? fdopen(fd, "wb")
                : fopencookie(f, "wb",
                              (cookie_io_functions_t){.write = write_slowly, .close = close_slow});
    if (!f->stream)
        return false;
    setvbuf(f->stream, NULL, _IOFBF, STREAM_BUFFER);
    return true;
}

struct atomic_file *atomic_file_open(const char *path, bool binary, struct err *e)
{
    struct atomic_file *f = calloc(1, sizeof *f);
    bool to_stdout = strcmp(path, "-") == 0;
    if (!f || !(f->shown = strdup(to_stdout ? "standard output" : path))) {
        free(f);
        err_memory(e, sizeof *f + strlen(path));
        return NULL;
    }
    int fd = to_stdout ? slow_open("/dev/stdout", true) : open_path(f);
    if (fd < 0) {
        cannot(f->shown, errno, e);
        goto fail;
    }
    if (binary && !f->temp && !refuse_terminal(fd, f->shown, e)) {
        close(fd);
        goto fail;
    }
    if (!open_stream(f, fd)) {
        cannot(f->shown, errno, e);
        close(fd);
        goto fail;
    }
    return f;
fail:
    atomic_file_discard(&f);
    return NULL;
}

FILE *atomic_file_stream(struct atomic_file *f) { return f->stream; }

/*
 * Syncs the folder, so that the new name survives a power failure. Ignores errors, because the
 * rename cannot be undone.
 */
static void sync_folder(const char *target)
{
    char *folder = path_beside(target, ".", NULL);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

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
    if (f->temp)
        write_back(fileno(f->stream));
    if (f->temp && fsync(fileno(f->stream)) != 0 && errno != EINVAL && errno != ENOTSUP &&
        errno != ENOSYS)
        return errno; /* EINVAL, ENOTSUP and ENOSYS: the file system has no fsync */
    return 0;
}

bool atomic_file_commit(struct atomic_file **file, struct err *e)
{
    struct atomic_file *f = *file;
    int error = flush(f);
    if (fclose(f->stream) != 0 && error == 0)
        error = errno;
    f->stream = NULL;
    if (error == 0 && f->temp) {
        if (rename(f->temp, f->target) == 0) {
            forget_temp(f);
            sync_folder(f->target);
        } else {
            error = errno;
        }
    }
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
    if (f->temp) {
        unlink(f->temp);
        forget_temp(f);
    }
    free(f->target);
    free(f->shown);
    free(f);
    *file = NULL;
}
