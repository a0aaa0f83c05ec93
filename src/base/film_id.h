/*
 * film_id.h - the files of a film, which may be several, and an id of the film. Any thread.
 *
 * The id is the size and a fingerprint of the bytes. It does not depend on the film's name or
 * folder and reveals neither.
 */
#ifndef BARCODE_FILM_ID_H
#define BARCODE_FILM_ID_H

#include "barcode/base/err.h"
#include "hash.h"

/* A file, and the section of it that the film shows. */
struct film_part {
    char *path;
    int64_t start_us, end_us; /* by the file's own timestamps; the complete file: end_us is 0 */
};

/* Empty if zero. Whoever makes it frees it with film_parts_free. */
struct film_parts {
    struct film_part *part; /* [count], in the order of the film */
    size_t count;
    size_t room;                /* elements allocated, by film_parts_add */
    int64_t rate_num, rate_den; /* each file is an image, so many a second; 0/0: films */
};

/* Appends a copy of `*part`. */
bool film_parts_add(struct film_parts *parts, const struct film_part *part, struct err *e);
void film_parts_free(struct film_parts **parts);

/* Returns the i-th file of a film: `path` alone if `parts` is NULL. */
const char *film_file(const char *path, const struct film_parts *parts, size_t i);
size_t film_files_count(const struct film_parts *parts);

/* Returns true if all parts are regular files; otherwise ERR_INPUT names the first other one. */
bool film_parts_check(const char *path, const struct film_parts *parts, struct err *e);

uint64_t film_parts_bytes(const struct film_parts *parts);

/* Returns true if a part is the same file as `path`, maybe by another name. */
bool film_parts_have(const struct film_parts *parts, const char *path);

/* ---- the id ---- */

enum {
    FILM_ID_BLOCKS = 16,
    FILM_ID_BLOCK_BYTES = 65536,
    /* at most so many bytes are read for a fingerprint */
    FILM_ID_ROOM = FILM_ID_BLOCKS * FILM_ID_BLOCK_BYTES,
    FILM_ID_TEXT = 56 /* bytes of the text, including the terminating zero */
};

/*
 * Computes the fingerprint of an open file of `size` bytes, one of the `files` of its film. It
 * covers the file's first and last blocks and evenly spaced blocks between; a small file is covered
 * completely. If a film has more than FILM_ID_BLOCKS files, it covers the first block of each. The
 * blocks are read into room[FILM_ID_ROOM], the caller's. Returns false with errno if the file
 * cannot be read, and with errno 0 if it has become shorter.
 */
bool film_id_fingerprint(int fd, uint64_t size, size_t files, uint8_t *room,
                         struct hash128 *fingerprint);

/*
 * Adds the next part of a film to the fingerprint of its parts so far, which begins as zero: the
 * fingerprint of the part's file, its size and the section of it.
 */
void film_id_add_part(struct hash128 *fingerprint, struct hash128 file, uint64_t size,
                      const struct film_part *part);

/*
 * Writes the id of a film as "SIZE-FINGERPRINT": of the file `path`, or of all `parts` if they are
 * not NULL. Writes "" if the file does not exist, may not be opened or is a pipe, which reading
 * would consume. Returns false with ERR_FAILED if the disk or network fails, or if out of memory.
 */
bool film_id_of(const char *path, const struct film_parts *parts, char text[FILM_ID_TEXT],
                struct err *e);

/*
 * Returns a hash of the sizes, times of modification and inodes of the film's files, which changes
 * when one is written or replaced. Returns 0 if one is missing or is no regular file. Any thread.
 */
uint64_t film_stamp(const char *path, const struct film_parts *parts);

/*
 * As film_stamp, but of the times of change, too: it also changes with a mode or a link, and when
 * `cp -p` writes a file in its place and gives it its old time.
 */
uint64_t film_stamp_of_change(const char *path, const struct film_parts *parts);

#endif
