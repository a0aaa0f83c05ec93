#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "media/container/playlists.h"
#include "inputs_list.h"

/* ---- The bytes of a playlist ---- */

/* Big-endian numbers; a playlist begins with "MPLS", its version, and where its list of items is.
 */
static size_t read_16(const uint8_t *p) { return (size_t)p[0] << 8 | p[1]; }
static size_t read_32(const uint8_t *p) { return read_16(p) << 16 | read_16(p + 2); }

/* The list: 4 bytes of length, 2 unused ones, the number of items, and that of sub-paths. */
enum { HEAD = 12, LIST_HEAD = 10, ITEM_BYTES = 20, CLOCK = 45000 };

size_t mpls_begin(const uint8_t *data, size_t size, size_t *at)
{
    if (size < HEAD || memcmp(data, "MPLS", 4) != 0)
        return 0;
    size_t list = read_32(data + 8);
    if (list > size || size - list < LIST_HEAD)
        return 0;
    *at = list + LIST_HEAD;
    return read_16(data + list + 6);
}

bool mpls_next(const uint8_t *data, size_t size, size_t *at, struct mpls_item *item)
{
    if (size - *at < 2 + ITEM_BYTES || read_16(data + *at) < ITEM_BYTES ||
        size - *at < 2 + read_16(data + *at))
        return false;
    /* name[5], "M2TS", two bytes of flags, the number of its clock, start and end */
    const uint8_t *p = data + *at + 2;
    for (int k = 0; k < 5; k++)
        if (p[k] < '0' || p[k] > '9')
            return false;
    snprintf(item->name, sizeof item->name, "%.5s.m2ts", (const char *)p);
    item->start_us = (int64_t)read_32(p + 12) * 1000000 / CLOCK;
    item->end_us = (int64_t)read_32(p + 16) * 1000000 / CLOCK;
    *at += 2 + read_16(data + *at);
    return memcmp(p + 5, "M2TS", 4) == 0 && item->end_us > item->start_us;
}

/* ---- The film of a playlist ---- */

/* A playlist has a few hundred bytes, rarely some hundred thousand. */
enum { PLAYLIST_MOST = 16 << 20 };

/* Reads the whole file, which the caller frees. Returns NULL with ERR_INPUT. */
static uint8_t *read_playlist(const char *path, size_t *size, struct err *e)
{
    struct stat s = {.st_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) != 0)
        err_set(e, file_is_fault(errno) ? ERR_FAILED : ERR_INPUT, "cannot open '%s': %s", path,
                strerror(errno));
    bool fits = fd >= 0 && s.st_size > 0 && s.st_size <= PLAYLIST_MOST;
    uint8_t *data = fits ? malloc((size_t)s.st_size) : NULL;
    *size = (size_t)s.st_size;
    if (data && !file_read_at(fd, data, *size, 0)) {
        if (file_is_fault(errno))
            err_set(e, ERR_FAILED, "cannot read '%s': %s", path, strerror(errno));
        free(data);
        data = NULL;
    }
    if (fd >= 0)
        close(fd);
    if (!data)
        err_set(e, ERR_INPUT, "'%s' is not a playlist of a Blu-ray", path);
    return data;
}

/* Checks that a clip is no link out of the disc, whose file `root` is. A missing one is no error.
 */
static bool check_clip(const char *path, const char *root, const char *clip, struct err *e)
{
    char *file = playlists_file(root, clip);
    bool ok = file || errno != EPERM;
    free(file);
    return ok ||
           err_set(e, ERR_INPUT, "'%s' names '%s', which is not a file of its disc", path, clip);
}

/* Appends the clips, which lie in the folder STREAM beside the playlist's. */
static bool add_clips(struct film_parts *parts, const char *path, const uint8_t *data, size_t size,
                      struct err *e)
{
    size_t at = 0, count = mpls_begin(data, size, &at);
    char *folder = path_beside(path, "../STREAM", e);
    char *root = path_beside(path, "../index.bdmv", e);
    bool ok = folder && root;
    for (size_t i = 0; i < count && ok; i++) {
        struct mpls_item item;
        ok = mpls_next(data, size, &at, &item);
        if (!ok) {
            err_set(e, ERR_INPUT, "'%s': the playlist is damaged", path);
            break;
        }
        char *clip = path_join(folder, item.name, "", e);
        struct film_part part = {.path = clip, .start_us = item.start_us, .end_us = item.end_us};
        ok = clip && check_clip(path, root, clip, e) && film_parts_add(parts, &part, e);
        free(clip);
    }
    free(folder);
    free(root);
    if (ok && count == 0)
        return err_set(e, ERR_INPUT, "'%s' is not a playlist of a Blu-ray", path);
    return ok;
}

bool inputs_playlist(struct inputs_list *list, const char *path, struct err *e)
{
    size_t size = 0;
    struct err problem = ERR_INIT;
    struct film_parts *parts = err_calloc(1, sizeof *parts, e);
    char *copy = parts ? strdup(path) : NULL;
    uint8_t *data = copy ? read_playlist(path, &size, &problem) : NULL;
    bool ok = data && add_clips(parts, path, data, size, &problem);
    free(data);
    if (ok)
        return inputs_list_parts(list, copy, parts, path, "", e);
    film_parts_free(&parts);
    free(copy);
    return copy ? inputs_list_problem(list, path, &problem, e) : err_memory(e, strlen(path) + 1);
}
