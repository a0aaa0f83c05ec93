/*
 * film_id.h - a film's identity, whatever its name and wherever it lies: its size and a fingerprint
 * of its bytes. The id gives away neither name nor place. Any thread.
 */
#ifndef BARCODE_FILM_ID_H
#define BARCODE_FILM_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FILM_ID_BLOCKS = 16,
    FILM_ID_BLOCK_BYTES = 65536,
    /* bytes that are read for a fingerprint, at most */
    FILM_ID_ROOM = FILM_ID_BLOCKS * FILM_ID_BLOCK_BYTES,
    FILM_ID_TEXT = 56 /* bytes of the text, its zero included */
};

/*
 * The fingerprint of an open file of `size` bytes: of its head, its tail and evenly spaced blocks
 * between them; of all of a small file. They are read into room[FILM_ID_ROOM], the caller's. False:
 * the file cannot be read.
 */
bool film_id_print(int fd, uint64_t size, uint8_t *room, struct hash128 *print);

/*
 * The film at `path` as text: "SIZE-FINGERPRINT"; "" where reading
 * would use the film up (a pipe) or fails, which who reads the film finds, too. False when memory
 * runs out.
 */
bool film_id_of(const char *path, char text[FILM_ID_TEXT], struct err *e);

#ifdef __cplusplus
}
#endif
#endif
