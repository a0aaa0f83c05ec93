/*
 * trailer_comment.h - the comment at the end of an SVG or PDF. It has the film id, the options
 * fingerprint and a checksum.
 *
 *     barcode:film ID
 *     barcode:recipe FINGERPRINT
 *     barcode:columns N
 *     barcode:size WxH
 *     barcode:partial yes
 *     barcode:check HEX     XXH3-128 of every byte of the file except this line
 *
 * Each key is on its own line, all within the last WRITER_HEAD bytes. At most SEAL_TAIL bytes
 * follow, as the format requires. Any thread.
 */
#ifndef BARCODE_FORMATS_TRAILER_COMMENT_H
#define BARCODE_FORMATS_TRAILER_COMMENT_H

#include "base/hash.h"
#include "output/writer.h"

enum { SEAL_TAIL = 96 };

/* A file that is being written. All bytes written through it are hashed. */
struct seal {
    FILE *file;
    struct hash_stream *hash;
};

bool seal_open(struct seal *s, FILE *f, struct err *e);
bool seal_write(struct seal *s, const void *bytes, size_t size, struct err *e);

/* Writes the lines of the comment, each after `mark` ("%" in PDF), then `tail`. Ends the hash. */
bool seal_end(struct seal *s, const struct report *r, const char *mark, const char *tail,
              struct err *e);

/* Frees the hash, after a failure. Does nothing after seal_end. */
void seal_drop(struct seal *s);

/* Implement writer.recognizes (with writer.tail) and writer.read_metadata. `last` is the text that
 * such a file ends with. */
bool trailer_recognizes(const uint8_t *end, size_t size, char film[FILM_ID_TEXT]);
bool trailer_read_metadata(FILE *f, const char *last, struct writer_metadata *metadata);

#endif
