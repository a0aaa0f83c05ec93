#include "spot_check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"

enum { SPOTS = 64, SPOT_BYTES = 16384 };

static int by_place(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

static uint64_t file_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Reads the spots at[0] to at[count - 1] of a file to `to`. Those near its end are shorter. */
static bool read_spots(const char *path, const uint64_t *at, size_t count, uint64_t size,
                       uint8_t *to)
{
    int fd = file_open_read(path);
    bool ok = fd >= 0;
    for (size_t i = 0; ok && i < count; i++, to += SPOT_BYTES) {
        uint64_t left = size - at[i];
        ok = file_read_at(fd, to, left < SPOT_BYTES ? (size_t)left : SPOT_BYTES, at[i]);
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/*
 * Hashes the film's bytes at the places that follow from `seed`. `room` has SPOTS * SPOT_BYTES
 * zeros.
 */
static bool hash_spots(const char *path, const struct film_parts *parts, uint64_t seed,
                       uint8_t *room, struct hash128 *hash)
{
    uint64_t at[SPOTS], bytes = film_bytes(path, parts);
    for (uint64_t i = 0; i < SPOTS; i++)
        at[i] = hash_64((const uint64_t[]){seed, i}, 2 * sizeof i) % (bytes ? bytes : 1);
    qsort(at, SPOTS, sizeof *at, by_place);
    size_t done = 0;
    for (size_t i = 0; i < film_files_count(parts) && done < SPOTS; i++) {
        const char *file = film_file(path, parts, i);
        uint64_t size = file_bytes(file);
        size_t count = 0;
        while (done + count < SPOTS && at[done + count] < size)
            count++;
        if (count > 0 && !read_spots(file, at + done, count, size, room + done * SPOT_BYTES))
            return false;
        done += count;
        for (size_t rest = done; rest < SPOTS; rest++)
            at[rest] -= size; /* a place in the next files */
    }
    *hash = hash_128(room, (size_t)SPOTS * SPOT_BYTES);
    return done == SPOTS;
}

static bool check_film(const char *path, const struct film_parts *parts, uint64_t seed,
                       struct hash128 *hash)
{
    uint8_t *room = calloc(SPOTS, SPOT_BYTES);
    bool ok = room && hash_spots(path, parts, seed, room, hash);
    free(room);
    return ok;
}

bool spot_check_make(const char *path, const struct film_parts *parts,
                     uint8_t check[SPOT_CHECK_BYTES])
{
    uint64_t seed;
    struct hash128 hash;
    struct wire_out out = {0};
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed ||
        !check_film(path, parts, seed, &hash))
        return false;
    wire_put_u64(&out, seed);
    wire_put_hash(&out, hash);
    bool ok = !out.failed;
    if (ok)
        memcpy(check, out.data, SPOT_CHECK_BYTES);
    wire_free(&out);
    return ok;
}

bool spot_check_holds(const char *path, const struct film_parts *parts, const uint8_t *check,
                      size_t bytes)
{
    struct wire_in in = wire_read(check, bytes);
    uint64_t seed = wire_u64(&in);
    struct hash128 stored = wire_hash(&in), now;
    return !in.failed && check_film(path, parts, seed, &now) && hash_same(stored, now);
}
