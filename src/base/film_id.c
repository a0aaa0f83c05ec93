#include "film_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "barcode/base/clock.h"
#include "interrupt.h"

bool film_parts_add(struct film_parts *parts, const struct film_part *part, struct err *e)
{
    size_t n = parts->count;
    if (!err_reserve(&parts->part, n + 1, &parts->room, sizeof *parts->part, e))
        return false;
    parts->part[n] = *part;
    parts->part[n].path = strdup(part->path);
    if (!parts->part[n].path)
        return err_memory(e, strlen(part->path) + 1);
    parts->count++;
    return true;
}

const char *film_file(const char *path, const struct film_parts *parts, size_t i)
{
    return parts ? parts->part[i].path : path;
}

size_t film_files_count(const struct film_parts *parts) { return parts ? parts->count : 1; }

bool film_parts_check(const char *path, const struct film_parts *parts, struct err *e)
{
    for (size_t i = 0; i < parts->count; i++) {
        const char *part = parts->part[i].path;
        struct stat s;
        if (stat(part, &s) != 0 && errno == ENOENT)
            return err_set(e, ERR_INPUT, "'%s': its part '%s' is missing", path, part);
        if (stat(part, &s) != 0)
            return err_set(e, file_is_fault(errno) ? ERR_FAILED : ERR_INPUT,
                           "'%s': cannot open its part '%s': %s", path, part, strerror(errno));
        if (!S_ISREG(s.st_mode))
            return err_set(e, ERR_INPUT, "'%s': its part '%s' is not a file", path, part);
    }
    return true;
}

uint64_t film_parts_bytes(const struct film_parts *parts)
{
    uint64_t bytes = 0;
    struct stat s;
    for (size_t i = 0; i < parts->count; i++)
        bytes += stat(parts->part[i].path, &s) == 0 ? (uint64_t)s.st_size : 0;
    return bytes;
}

bool film_parts_have(const struct film_parts *parts, const char *path)
{
    for (size_t i = 0; i < parts->count; i++)
        if (file_same(parts->part[i].path, path))
            return true;
    return false;
}

void film_parts_free(struct film_parts **parts)
{
    if (!*parts)
        return;
    for (size_t i = 0; i < (*parts)->count; i++)
        free((*parts)->part[i].path);
    free((*parts)->part);
    free(*parts);
    *parts = NULL;
}

/* ---- The id ---- */

bool film_id_fingerprint(int fd, uint64_t size, size_t files, uint8_t *room,
                         struct hash128 *fingerprint)
{
    const uint64_t blocks = files <= FILM_ID_BLOCKS ? FILM_ID_BLOCKS : 1;
    const size_t most = (size_t)blocks * FILM_ID_BLOCK_BYTES;
    if (size <= most) {
        if (!file_read_at(fd, room, (size_t)size, 0))
            return false;
        *fingerprint = hash_128(room, (size_t)size);
        return true;
    }
    const uint64_t last = size - FILM_ID_BLOCK_BYTES, step = last / (FILM_ID_BLOCKS - 1);
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t at = i + 1 == FILM_ID_BLOCKS ? last : i * step;
        if (!file_read_at(fd, room + i * FILM_ID_BLOCK_BYTES, FILM_ID_BLOCK_BYTES, at))
            return false;
    }
    *fingerprint = hash_128(room, most);
    return true;
}

void film_id_add_part(struct hash128 *fingerprint, struct hash128 file, uint64_t size,
                      const struct film_part *part)
{
    const uint64_t start = (uint64_t)part->start_us, end = (uint64_t)part->end_us;
    const uint64_t all[] = {
        fingerprint->low, fingerprint->high, file.low, file.high, size, start, end};
    *fingerprint = hash_128(all, sizeof all);
}

/*
 * Reads the size and the fingerprint of a regular file. Sets *error to errno. Does not even open a
 * pipe: its writer would take this process for the reader.
 */
static bool read_file(const char *path, size_t files, uint8_t *room, uint64_t *size,
                      struct hash128 *fingerprint, int *error)
{
    struct stat s;
    errno = 0;
    int fd = file_is_regular(path) ? slow_open(path, false) : -1;
    bool ok = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
              film_id_fingerprint(fd, (uint64_t)s.st_size, files, room, fingerprint);
    *error = errno;
    *size = ok ? (uint64_t)s.st_size : 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

bool film_id_of(const char *path, const struct film_parts *parts, char text[FILM_ID_TEXT],
                struct err *e)
{
    struct hash128 fingerprint = {0, 0}, file;
    char digits[33];
    uint64_t size, total = 0;
    size_t files = film_files_count(parts);
    bool ok = true;
    text[0] = 0;
    uint8_t *room = malloc(FILM_ID_ROOM);
    if (!room)
        return err_memory(e, FILM_ID_ROOM);
    for (size_t i = 0; ok && i < files && !interrupted(); i++) {
        int error;
        ok = read_file(film_file(path, parts, i), files, room, &size, &file, &error);
        if (!ok && file_is_fault(error)) {
            free(room);
            return err_set(e, ERR_FAILED, "cannot read '%s': %s", film_file(path, parts, i),
                           strerror(error));
        }
        total += size;
        if (ok && parts)
            film_id_add_part(&fingerprint, file, size, &parts->part[i]);
        else if (ok)
            fingerprint = file;
    }
    if (ok && !interrupted()) {
        hash_hex(fingerprint, digits);
        snprintf(text, FILM_ID_TEXT, "%" PRIu64 "-%s", total, digits);
    }
    free(room);
    return true;
}

static uint64_t make_stamp(const char *path, const struct film_parts *parts, bool change)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < film_files_count(parts); i++) {
        struct stat s;
        if (stat(film_file(path, parts, i), &s) != 0 || !S_ISREG(s.st_mode))
            return 0;
        const uint64_t all[] = {hash,
                                (uint64_t)s.st_size,
                                (uint64_t)clock_in_ns(s.st_mtim),
                                (uint64_t)s.st_dev,
                                (uint64_t)s.st_ino,
                                change ? (uint64_t)clock_in_ns(s.st_ctim) : 0};
        hash = hash_64(all, sizeof all);
    }
    return hash;
}

uint64_t film_stamp(const char *path, const struct film_parts *parts)
{
    return make_stamp(path, parts, false);
}

uint64_t film_stamp_of_change(const char *path, const struct film_parts *parts)
{
    return make_stamp(path, parts, true);
}
