#include "barcode/base/film_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/file.h"
#include "barcode/base/path.h"
#include "barcode/base/slow_file.h"

bool film_id_print(int fd, uint64_t size, uint8_t *room, struct hash128 *print)
{
    size_t whole = size < FILM_ID_ROOM ? (size_t)size : FILM_ID_ROOM;
    bool ok = size > FILM_ID_ROOM || file_read_at(fd, room, whole, 0);
    uint64_t last = size - FILM_ID_BLOCK_BYTES, step = last / (FILM_ID_BLOCKS - 1);
    for (uint64_t i = 0; ok && size > FILM_ID_ROOM && i < FILM_ID_BLOCKS; i++)
        ok = file_read_at(fd, room + i * FILM_ID_BLOCK_BYTES, FILM_ID_BLOCK_BYTES,
                          i + 1 == FILM_ID_BLOCKS ? last : i * step);
    if (ok)
        *print = hash_128(room, whole);
    return ok;
}

bool film_id_of(const char *path, char text[FILM_ID_TEXT], struct err *e)
{
    struct hash128 print;
    char digits[33];
    struct stat s;
    text[0] = 0;
    uint8_t *room = malloc(FILM_ID_ROOM);
    if (!room)
        return err_memory(e, FILM_ID_ROOM);
    /* Do not even open a pipe: its writer would take this process for the reader. */
    int fd = file_is_regular(path) ? slow_open(path, false) : -1;
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
        film_id_print(fd, (uint64_t)s.st_size, room, &print)) {
        hash_hex(print, digits);
        snprintf(text, FILM_ID_TEXT, "%" PRIu64 "-%s", (uint64_t)s.st_size, digits);
    }
    if (fd >= 0)
        close(fd);
    free(room);
    return true;
}
