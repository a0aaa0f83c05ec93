#include "barcode/film_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/file.h"
#include "barcode/path.h"
#include "barcode/slow_file.h"

bool film_id_print(int fd, uint64_t size, struct hash128 *print)
{
    size_t whole = (size_t)FILM_ID_BLOCKS * FILM_ID_BLOCK_BYTES;
    uint8_t *bytes = malloc(whole);
    bool fine = bytes != NULL;
    if (size <= whole) {
        whole = (size_t)size;
        fine = fine && file_read_at(fd, bytes, whole, 0);
    } else {
        uint64_t last = size - FILM_ID_BLOCK_BYTES, step = last / (FILM_ID_BLOCKS - 1);
        for (uint64_t i = 0; fine && i < FILM_ID_BLOCKS; i++)
            fine = file_read_at(fd, bytes + i * FILM_ID_BLOCK_BYTES, FILM_ID_BLOCK_BYTES,
                                i + 1 == FILM_ID_BLOCKS ? last : i * step);
    }
    if (fine)
        *print = hash_128(bytes, whole);
    free(bytes);
    return fine;
}

bool film_id_of(const char *path, char text[FILM_ID_TEXT])
{
    struct hash128 print;
    char digits[33];
    struct stat s;
    text[0] = 0;
    if (path_is_synthetic(path)) {
        hash_hex(hash_128(path, strlen(path)), digits);
        snprintf(text, FILM_ID_TEXT, "synth-%s", digits);
        return true;
    }
    /* A pipe is not even opened: its writer would take this process for its reader. */
    int fd = file_is_regular(path) ? slow_open(path, false) : -1;
    if (fd < 0)
        return false;
    bool fine = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && film_id_print(fd, (uint64_t)s.st_size, &print);
    close(fd);
    if (!fine)
        return false;
    hash_hex(print, digits);
    snprintf(text, FILM_ID_TEXT, "%" PRIu64 "-%s", (uint64_t)s.st_size, digits);
    return true;
}
