/*
 * film_id.h - what a film is known by, whatever it is called and wherever it lies: its size and a fingerprint of its bytes. It
 * gives away neither a name nor a place. Any thread.
 */
#ifndef BARCODE_FILM_ID_H
#define BARCODE_FILM_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FILM_ID_BLOCKS = 16, FILM_ID_BLOCK_BYTES = 65536,    /* 1 MiB at most is read for a fingerprint */
    FILM_ID_TEXT = 56                                    /* bytes of the text, its zero included    */
};

/* Head, tail and evenly spaced blocks between of an open file of `size` bytes; all of a small one. False: it cannot be read through, or no memory. */
bool film_id_print(int fd, uint64_t size, struct hash128 *print);

/*
 * The film at `path` as text: "SIZE-FINGERPRINT", of a synthetic film "synth-" and a hash of its description. False, with "", of
 * what cannot be known without using it up (a pipe) or cannot be read.
 */
bool film_id_of(const char *path, char text[FILM_ID_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
