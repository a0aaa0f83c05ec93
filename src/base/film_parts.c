#include "film_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"

bool film_parts_add(struct film_parts *parts, const struct film_part *part, struct err *e)
{
    size_t n = parts->count;
    if ((n & (n - 1)) == 0 && /* there is room up to the next power of two */
        !err_reserve(&parts->part, n ? 2 * n : 1, &(size_t){0}, sizeof *parts->part, e))
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
