/*
 * film_tail.h - what stands in a file behind a film that is whole: tags that a music player wrote, and padding.
 *
 * Demuxers take it for damage, or for the last picture's. So libavformat does not get to see it, in those containers where that
 * matters.
 */
#ifndef BARCODE_FILM_TAIL_H
#define BARCODE_FILM_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where in the regular file `fd`, of `size` bytes, the film ends; `size`: nothing is known to stand behind it, or it does not matter.
 * A tag says what it is. Zeros, and bytes of 255, may be a hole as well: the film's last pictures, of which a download or a disk
 * left nothing. They are padding where the container's own end stands before them, or else zeros where they begin inside a sector, as
 * holes do not, and the decoder tells of a picture that breaks off there.
 */
int64_t film_tail_begin(int fd, int64_t size);

/*
 * True if bytes that are all alike, from `at` in a file to its end, may be padding: a hole begins with a sector, and what stands before
 * it may end in a few such bytes.
 */
bool film_tail_is_padding(int64_t at);

#endif
