#include "atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "path.h"
#include "interrupt.h"

enum { LINKS_MAX = 40, TRIES_MAX = 100 };

struct atomic_target {
    char *path; /* what is replaced: links are followed; NULL: a device or pipe */
    char *temp; /* its temporary name; NULL: it has no name yet, or is a device or pipe */
    int fd;     /* of the file, or of the folder */
    bool folder;
};

/* ---- Targets: their names ---- */

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

/* Reads a link. Returns 0 if it is none, -1 with errno on failure, or if it may not be followed. */
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
char *atomic_target_path(const char *path)
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

/*
 * Returns a new temporary name in the folder of `target`, ".NAME.XXXXXX.tmp"; the caller frees it.
 * NAME is shortened if the folder's name limit requires it. Returns NULL if out of memory.
 */
static char *temporary_name(const char *target)
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

/* Calls `make` with temporary names until one is free, and keeps that. Returns its result. */
typedef int make_named(const struct atomic_target *t, const char *temp);

static int make_temporary(struct atomic_target *t, make_named *make)
{
    int made = -1;
    for (int i = 0; i < TRIES_MAX && made < 0; i++) {
        t->temp = temporary_name(t->path);
        if (!t->temp) {
            errno = ENOMEM;
            return -1;
        }
        made = make(t, t->temp);
        int error = errno;
        if (made >= 0)
            return made;
        free(t->temp);
        t->temp = NULL;
        errno = error;
        if (error != EEXIST)
            return -1;
    }
    return made;
}

/* ---- Targets: files ---- */

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
 * Uses open() rather than mkstemp(), so that the kernel applies the umask and the folder's default
 * ACL. Reading the umask here would change it for other threads.
 */
static int make_file(const struct atomic_target *t, const char *temp)
{
    (void)t;
    return open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Returns how /proc names a descriptor, by which linkat finds a file without a name. */
static void name_descriptor(int fd, char name[32]) { snprintf(name, 32, "/proc/self/fd/%d", fd); }

/* Opens a file without a name. Returns -1 if the file system has none, or if /proc is missing. */
static int open_nameless(const char *path)
{
    char name[32], *folder = path_beside(path, ".", NULL);
    int fd = folder ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    name_descriptor(fd, name);
    if (access(name, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Opens the file that will replace t->path. Returns false with errno. */
static bool open_new(struct atomic_target *t)
{
    t->fd = open_nameless(t->path);
    if (t->fd < 0)
        t->fd = make_temporary(t, make_file);
    return t->fd >= 0;
}

/* Opens a device or pipe. */
static bool open_direct(struct atomic_target *t, const char *path)
{
    int number = file_descriptor(path);
    t->fd = number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0)
                        : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return t->fd >= 0;
}

/* Sets the paths and opens the file. Returns false with errno. */
static bool open_path(struct atomic_target *t, const char *path)
{
    struct stat old;
    size_t length = strlen(path);
    bool exists = stat(path, &old) == 0;
    if (file_descriptor(path) >= 0)
        return open_direct(t, path);
    if (!exists && errno != ENOENT)
        return false;
    if ((exists && S_ISDIR(old.st_mode)) || (length > 0 && path[length - 1] == '/')) {
        errno = EISDIR;
        return false;
    }
    if (length == 0) {
        errno = ENOENT;
        return false;
    }
    if (exists && !S_ISREG(old.st_mode))
        return open_direct(t, path);
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return false;
    t->path = atomic_target_path(path);
    if (!t->path || !open_new(t))
        return false;
    if (exists)
        inherit(t->fd, &old);
    return true;
}

struct atomic_target *atomic_target_open(const char *path)
{
    struct atomic_target *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->fd = -1;
    if (!open_path(t, path)) {
        int error = errno;
        atomic_target_discard(&t);
        errno = error;
    }
    return t;
}

int atomic_target_descriptor(const struct atomic_target *t) { return t->fd; }

/* Syncs the folder, so that the new name survives a power failure. The rename cannot be undone. */
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

/* Gives a nameless file a name. */
static int link_file(const struct atomic_target *t, const char *name)
{
    char source[32];
    name_descriptor(t->fd, source);
    return linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Gives the file its name. linkat replaces no file, so an older one needs a detour. */
static bool publish_file(struct atomic_target *t)
{
    if (!t->temp) {
        if (link_file(t, t->path) == 0)
            return true;
        if (errno != EEXIST || make_temporary(t, link_file) < 0)
            return false;
    }
    if (rename(t->temp, t->path) != 0)
        return false;
    free(t->temp);
    t->temp = NULL;
    return true;
}

/* ---- Targets: folders ---- */

/* Returns true for 1 to 4 digits and ".jpg": so there is an end to the sheets of a folder. */
static bool is_sheet(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && digits <= 4 && strcmp(name + digits, ".jpg") == 0;
}

/* Returns true if a folder has own sheets alone, or does not exist. Otherwise sets errno. */
static bool has_own_sheets(const char *path, atomic_is_own *is_own)
{
    DIR *folder = opendir(path);
    bool ok = true;
    if (!folder)
        return errno == ENOENT;
    const struct dirent *d;
    while (ok && (d = readdir(folder))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        char *name = path_join(path, d->d_name, "", NULL);
        ok = name && is_sheet(d->d_name) && is_own(name);
        free(name);
    }
    closedir(folder);
    errno = ENOTEMPTY;
    return ok;
}

/* Removes a folder of sheets; anything else in it stays, and so does the folder then. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (is_sheet(d->d_name))
            (void)unlinkat(dirfd(folder), d->d_name, 0);
    if (folder)
        closedir(folder);
    (void)rmdir(path);
}

static int make_folder(const struct atomic_target *t, const char *temp)
{
    (void)t;
    return mkdir(temp, 0777);
}

struct atomic_target *atomic_target_open_folder(const char *path, atomic_is_own *is_own)
{
    struct atomic_target *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->fd = -1;
    t->folder = true;
    t->path = atomic_target_path(path);
    bool ok = t->path && has_own_sheets(t->path, is_own) && make_temporary(t, make_folder) == 0;
    if (ok)
        t->fd = open(t->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->fd < 0) {
        int error = errno;
        atomic_target_discard(&t);
        errno = error;
    }
    return t;
}

int atomic_target_add(struct atomic_target *t, const char *name)
{
    errno = EINVAL;
    if (!t->folder || !is_sheet(name))
        return -1;
    return openat(t->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

/* Puts the folder in the place of an older one, which is removed. */
static bool publish_folder(const struct atomic_target *t)
{
    if (renameat2(AT_FDCWD, t->temp, AT_FDCWD, t->path, RENAME_EXCHANGE) == 0)
        return true; /* the older one is removed with the temporary name */
    /* There is no older one, or the file system cannot exchange them. */
    char *older = path_join("", t->temp, ".old", NULL);
    if (!older)
        return false;
    bool moved = rename(t->path, older) == 0, ok = rename(t->temp, t->path) == 0;
    int error = errno;
    if (moved && ok)
        remove_folder(older);
    else if (moved)
        (void)rename(older, t->path);
    free(older);
    errno = error;
    return ok;
}

/* ---- Targets: the end ---- */

bool atomic_target_publish(struct atomic_target **target)
{
    struct atomic_target *t = *target;
    bool ok = !t->path || (t->folder ? publish_folder(t) : publish_file(t));
    int error = errno;
    if (ok && t->path)
        sync_folder(t->path);
    atomic_target_discard(target);
    errno = error;
    return ok;
}

void atomic_target_discard(struct atomic_target **target)
{
    struct atomic_target *t = *target;
    if (!t)
        return;
    if (t->temp && t->folder && t->path) {
        remove_folder(t->temp);
        (void)rmdir(t->path); /* if it is empty */
    } else if (t->temp) {
        (void)unlink(t->temp);
    }
    if (t->fd >= 0)
        close(t->fd);
    free(t->temp);
    free(t->path);
    free(t);
    *target = NULL;
}

enum { STREAM_BUFFER = 1 << 16 };

/* An output that this process, or its parent, gives its name. */
struct place {
    struct atomic_target *target; /* NULL: the parent has it */
    int file;                     /* the parent's; -1: none */
};

struct atomic_file {
    FILE *stream; /* NULL: not open yet, or a folder */
    char *shown;  /* as the caller named it, for messages */
    struct place place;
    bool slow; /* a device or pipe */
    int fd;    /* of `stream` */
};

static bool cannot(const char *path, int error, struct err *e)
{
    if (error == EINTR && interrupted())
        return interrupt_output(path, e);
    return err_set(e, file_write_code(error), "cannot write '%s': %s", path, strerror(error));
}

bool atomic_file_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || file_descriptor(path) == STDOUT_FILENO;
}

const char *atomic_file_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
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

/* Opens the stream over `fd`, which it closes. A plain write to a full pipe would block. */
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
    struct atomic_file *f = new_file(atomic_file_shown(path), e);
    if (!f)
        return NULL;
    int fd = wait_for_place(&f->place, strcmp(path, "-") == 0 ? "/dev/stdout" : path);
    if (fd < 0 || !binary || refuse_terminal(fd, f->shown, e))
        return with_stream(f, fd, e);
    close(fd);
    atomic_file_discard(&f);
    return NULL;
}

FILE *atomic_file_stream(struct atomic_file *f) { return f->stream; }

/* Writes in steps: one fsync may take minutes, as if the film hung. fsync reports the errors. */
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
    int error = f->stream ? flush(f) : 0;
    if (f->stream && fclose(f->stream) != 0 && error == 0)
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

/* Begins the folder `path`. The parent gets the name of its first sheet. Returns false with errno.
 */
static bool begin_folder(struct place *p, const char *path, atomic_is_own *is_own)
{
    if (!file_ask) {
        p->target = atomic_target_open_folder(path, is_own);
        return p->target != NULL;
    }
    char *first = path_join(path, "0.jpg", "", NULL);
    bool begun = first && file_ask(FILE_FOLDER, first, &p->file) == 0;
    int error = errno;
    free(first);
    errno = error;
    return begun;
}

struct atomic_file *atomic_folder_open(const char *path, atomic_is_own *is_own, struct err *e)
{
    struct atomic_file *f = new_file(path, e);
    if (!f || begin_folder(&f->place, path, is_own))
        return f;
    if (errno == ENOTEMPTY)
        err_set(e, ERR_FAILED, "cannot write '%s': it has a file that barcode did not make", path);
    cannot(path, errno, e);
    atomic_file_discard(&f);
    return NULL;
}

struct atomic_file *atomic_folder_add(struct atomic_file *folder, const char *name, struct err *e)
{
    struct atomic_file *f = new_file(folder->shown, e);
    if (!f)
        return NULL;
    int fd = folder->place.target ? atomic_target_add(folder->place.target, name)
                                  : file_ask(FILE_ADD, name, &folder->place.file);
    return with_stream(f, fd, e);
}
