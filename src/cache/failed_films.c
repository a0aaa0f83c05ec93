#include "failed_films.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/version.h"
#include "cache_store.h"
#include "media/container/playlists.h"
#include "media/ffmpeg/ffmpeg.h"

/* A line is a hash, a space, '+' or '-', and a line feed. The last line of a film counts. */
enum { LINE = 35, LIST_MOST = LINE << 13 };

/* Opens the list, to append to it or to read it. Returns -1 if there is none, or a stranger's. */
static int open_list(const struct cache_options *o, bool append, struct stat *s)
{
    struct cache_store store;
    char path[CACHE_PATH_BYTES];
    struct err none = ERR_INIT;
    if (!cache_store_open(&store, o, &none) || (append && !cache_store_make(&store, &none)))
        return -1;
    snprintf(path, sizeof path, "%s/" CACHE_FAILED_FILMS, store.folder);
    int fd =
        open(path, (append ? O_WRONLY | O_APPEND | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC,
             cache_owner_mode(&store.owner, 6));
    bool ok =
        fd >= 0 && fstat(fd, s) == 0 && S_ISREG(s->st_mode) && cache_owner_trusts(&store.owner, s);
    if (!ok && fd >= 0)
        close(fd);
    return ok ? fd : -1;
}

/*
 * Writes the film's hash. Any change of its files, of the options or of the program changes it.
 * Returns false if a file is missing or may not be read. Also returns false for a playlist, whose
 * files may change.
 */
static bool write_hash(const struct failed_film *f, char text[33])
{
    char all[640], libraries[512];
    const uint64_t stamp = film_stamp_of_change(f->path, f->parts);
    libraries_describe(libraries, sizeof libraries);
    snprintf(all, sizeof all, "%016" PRIx64 " %016" PRIx64 " " BARCODE_VERSION " %s", stamp,
             f->options, libraries);
    hash_hex(hash_128(all, strlen(all)), text);
    return stamp != 0 && !playlists_may_be(f->path) &&
           access(film_file(f->path, f->parts, 0), R_OK) == 0;
}

/* Returns true if the last line of the hash says that its film failed. */
static bool is_failed(const struct cache_options *o, const char hash[33])
{
    struct stat s;
    int fd = open_list(o, false, &s);
    size_t size = fd >= 0 && s.st_size <= LIST_MOST ? (size_t)s.st_size : 0, at = size;
    char *list = malloc(size + 1);
    bool found = false, failed = false;
    for (bool ok = list && size > 0 && file_read_at(fd, list, size, 0); ok && !found && at >= LINE;
         at -= LINE) {
        const char *line = list + at - LINE;
        found = memcmp(line, hash, 32) == 0;
        failed = found && line[33] == '+';
    }
    free(list);
    if (fd >= 0)
        close(fd);
    return failed;
}

bool failed_films_have(const struct cache_options *o, const struct failed_film *f)
{
    char hash[33];
    return write_hash(f, hash) && is_failed(o, hash);
}

void failed_films_set(const struct cache_options *o, const struct failed_film *f, bool failed)
{
    struct stat s;
    char hash[33], line[LINE + 1];
    if (!write_hash(f, hash) || is_failed(o, hash) == failed)
        return;
    int fd = open_list(o, true, &s);
    if (fd < 0)
        return;
    snprintf(line, sizeof line, "%s %c\n", hash, failed ? '+' : '-');
    /* a list that is too long, or ends in the middle of a line, begins again */
    bool begins = s.st_size >= LIST_MOST || s.st_size % LINE != 0;
    if (!begins || ftruncate(fd, 0) == 0)
        (void)file_write(fd, line, LINE);
    close(fd);
}
