/*
 * provenance.h - the provenance comment of a text file that barcode made: one line, in a comment of
 * the format.
 *
 *     barcode:film=ID partial=yes|no columns=N size=WxH parts=N fingerprint=FINGERPRINT
 *
 * ID (film_id.h) is empty for a film from a pipe. FINGERPRINT (options_fingerprint.h) extends to
 * the end of the line or to a quote. Pure, except those that read a file; any thread.
 */
#ifndef BARCODE_PROVENANCE_H
#define BARCODE_PROVENANCE_H

#include "base/hash.h"
#include "output/writer.h"

enum { PROVENANCE_TEXT = REPORT_FINGERPRINT + 256 };

/* How the line begins. */
#define PROVENANCE_BEGIN "barcode:film="

/* Writes the line without a line feed. `parts` is the number of other files that belong to this
 * one. */
void provenance_text(const struct report *r, uint64_t parts, char text[PROVENANCE_TEXT]);

/* Finds and parses the first provenance comment in text[size], ignoring lines that begin with
 * "Name: " or "TITLE: ". Returns false if there is none. */
bool provenance_find(const char *text, size_t size, struct writer_metadata *metadata);

/* Parses "320x180", the size of analysis frames; sets 0 if it is none. */
void provenance_read_size(const char *text, struct writer_metadata *metadata);

/* Implements writer.recognizes for files that begin with `begin` and have a provenance comment. */
bool provenance_recognizes(const uint8_t *head, size_t size, const char *begin,
                           char film[FILM_ID_TEXT]);

/* Implements writer.read_metadata for files that begin with `begin`, have a provenance comment, and
 * end with `end` if complete. */
bool provenance_read(FILE *f, const char *begin, const char *end, struct writer_metadata *metadata);

/* The same for files that have `mark` and the comment in their last WRITER_HEAD bytes. The second
 * does not check whether the file is complete. */
bool provenance_recognizes_end(const uint8_t *tail, size_t size, const char *mark,
                               char film[FILM_ID_TEXT]);
bool provenance_read_end(FILE *f, const char *mark, struct writer_metadata *metadata);

/*
 * The comment at the end of an SVG or PDF has the film id, the options fingerprint and a checksum.
 *
 *     barcode:film ID
 *     barcode:fingerprint FINGERPRINT
 *     barcode:columns N
 *     barcode:size WxH
 *     barcode:partial yes
 *     barcode:check HEX     XXH3-128 of every byte of the file except this line
 *
 * Each key is on its own line, all within the last WRITER_HEAD bytes. At most TRAILER_TAIL bytes
 * follow, as the format requires. Any thread.
 */
enum { TRAILER_TAIL = 96 };

/* A file that is being written. All bytes written through it are hashed. */
struct trailer_file {
    FILE *file;
    struct hash_stream *hash;
};

bool trailer_open(struct trailer_file *s, FILE *f, struct err *e);
bool trailer_write(struct trailer_file *s, const void *bytes, size_t size, struct err *e);

/* Writes the lines of the comment, each after `mark` ("%" in PDF), then `tail`. Ends the hash. */
bool trailer_end(struct trailer_file *s, const struct report *r, const char *mark, const char *tail,
                 struct err *e);

/* Frees the hash, after a failure. Does nothing after trailer_end. */
void trailer_discard(struct trailer_file *s);

/* Implement writer.recognizes (with writer.tail) and writer.read_metadata. `last` is the text that
 * such a file ends with. */
bool trailer_recognizes(const uint8_t *end, size_t size, char film[FILM_ID_TEXT]);
bool trailer_read_metadata(FILE *f, const char *last, struct writer_metadata *metadata);

#endif
