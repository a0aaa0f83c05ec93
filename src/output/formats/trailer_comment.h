/*
 * trailer_comment.h - how SVG and PDF name film and recipe, and say that they are whole: a comment
 * at the end of the file.
 *
 *     barcode:film ID              barcode:recipe RECIPE      barcode:columns N      barcode:size
 * WxH      barcode:partial yes barcode:check HEX            XXH3-128 of every byte of the file but
 * this line
 *
 * A line each, all within the last WRITER_HEAD bytes; what the format needs behind a comment
 * follows (at most SEAL_TAIL bytes). Any thread.
 */
#ifndef BARCODE_FORMATS_TRAILER_COMMENT_H
#define BARCODE_FORMATS_TRAILER_COMMENT_H

#include "barcode/base/hash.h"
#include "barcode/output/writer.h"

enum { SEAL_TAIL = 96 };

/* A file that is being written: what goes through it is hashed. */
struct seal {
    FILE *file;
    struct hash_stream *hash;
};

bool seal_open(struct seal *s, FILE *f, struct err *e);
bool seal_write(struct seal *s, const void *bytes, size_t size, struct err *e);

/* The comment's lines, each after `mark` ("%" in PDF), then `tail`. Ends the hash. */
bool seal_end(struct seal *s, const struct report *r, const char *mark, const char *tail,
              struct err *e);

/* After a failure. Fine after seal_end. */
void seal_drop(struct seal *s);

/* A writer's `recognizes` (with `tail`) and `metadata`; `last`: what such a file ends with. */
bool trailer_recognizes(const uint8_t *end, size_t size, char film[FILM_ID_TEXT]);
bool trailer_read_metadata(FILE *f, const char *last, struct writer_metadata *metadata);

#endif
