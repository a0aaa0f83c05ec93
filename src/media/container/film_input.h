/*
 * film_input.h - reads films for libavformat: files, disks, pipes, FIFOs, stdin under any name,
 * sockets, terminals. libavformat's own reading does not notice a signal while it waits for data,
 * and its demuxers do not report every read that fails.
 *
 * A file is read from its beginning, wherever its descriptor is positioned, and is seekable. A pipe
 * is read once, front to back; the last 8 MiB are kept, because the demuxers of GIF and APNG seek
 * back to the start of a frame.
 */
#ifndef BARCODE_CONTAINER_FILM_INPUT_H
#define BARCODE_CONTAINER_FILM_INPUT_H

#include <libavformat/avio.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "base/film_id.h"
#include "media/ffmpeg/libav.h"

/*
 * ---- read_faults.c: what the system could not read of a film, in any context ----
 *
 * Demuxers take a failed read for the end of the film or for damage, and do not return it.
 */

/* Any thread. Every function accepts NULL: nothing is recorded, and there are no faults. */
struct read_faults;

/* Returns an empty record; with `keep_going` unreadable bytes are skipped. NULL without memory. */
struct read_faults *read_faults_new(bool keep_going, struct err *e);
void read_faults_free(struct read_faults **faults);

/* Returns true if a read that failed with this errno is to be repeated behind the bad bytes. */
bool read_faults_may_skip(const struct read_faults *f, int error);

/*
 * Records that a read of the file `path` failed at offset `at` with this errno, for the sentences
 * below. The first one counts. `path`: NULL: it is not known which of several files.
 */
void read_faults_note(struct read_faults *f, const char *path, int error, int64_t at);

/* The same, and that the film was not read further. Does nothing if the errno is 0. */
void read_faults_fail(struct read_faults *f, const char *path, int error, int64_t at);

/* Records what part of the film is missing: a text to go behind "'FILM': ". The first counts. */
void read_faults_lack(struct read_faults *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the first text, or "". It is valid until the faults are freed. */
const char *read_faults_lacking(struct read_faults *f);

/* Records what could not be read of the files that FFmpeg itself opened, for "concat". */
void read_faults_add_logged(struct read_faults *f, const struct av_log_counts *logged);

/* Records that the bytes [from, to) of the film were read as zeros. Any number of times. */
void read_faults_skip(struct read_faults *f, int64_t from, int64_t to);

/* Returns true if bytes of [from, to) were skipped. */
bool read_faults_meet(struct read_faults *f, int64_t from, int64_t to);

/* Returns how many bytes of the film were skipped. */
uint64_t read_faults_bytes(struct read_faults *f);

/*
 * Returns true if no read has failed. Otherwise sets `e` to ERR_FAILED, in place of another error
 * but ERR_INTERRUPTED, because the failed read most likely caused it. `path`: the film.
 */
bool read_faults_check(struct read_faults *f, const char *path, struct err *e);

/* The same if opening failed: also skipped bytes and a missing part are causes. Returns false. */
bool read_faults_explain(struct read_faults *f, const char *path, struct err *e);

/*
 * Opens the film's input as *io; the caller closes it with film_input_close. `path` and `faults`
 * are borrowed.
 * *io is NULL if libavformat is to open the film by its name, and to report any error. Returns
 * false, with *io NULL, on ERR_INPUT, on ERR_FAILED if the system fails, or on ERR_MEMORY.
 */
bool film_input_open(const char *path, struct read_faults *faults, AVIOContext **io, struct err *e);

/* The same with several files, borrowed, that follow one another. *io is NULL only on an error. */
bool film_input_open_parts(const struct film_parts *parts, struct read_faults *faults,
                           AVIOContext **io, struct err *e);

/* Does the same with a copy of a text. */
bool film_input_open_text(const char *text, AVIOContext **io, struct err *e);

/*
 * Opens the regular file `path` that the playlist `film`, an input, names, as *io. `name` is for
 * messages. Its faults are those of the film: if it cannot be opened, the film lacks it, or fails
 * with the system. `path`: NULL: it is not found, for the reason in errno. Returns 0 or an errno.
 */
int film_input_open_beside(const AVIOContext *film, const char *path, const char *name,
                           AVIOContext **io);

/*
 * Returns true for an MP4 from a pipe whose index comes after its media data, so that it would have
 * to be read twice. Call it before anything is read. It reads the headers of the first boxes, and
 * libavformat can still read those bytes.
 */
bool film_input_index_last(AVIOContext *io);

/*
 * Replaces *io by a new AVIOContext that reads the film from its first byte again. Nobody else may
 * have a pointer to *io. Up to 64 MiB of a pipe are kept for this: returns false if more were read,
 * or on ERR_FAILED.
 */
bool film_input_again(AVIOContext **io, struct err *e);

/* Keeps no more bytes for film_input_again, which cannot be called any more. */
void film_input_go_on(AVIOContext *io);

/* Closes the input and sets *io to NULL. Does nothing if *io is NULL. */
void film_input_close(AVIOContext **io);

/*
 * ---- the header of an MP4 box, over untrusted bytes: 32 bits of size and a name, and 64 bits of
 * size if the first one is 1 (ISO/IEC 14496-12, 4.2) ----
 */
enum { MP4_BOX_HEAD = 8, MP4_BOX_HEAD_LONG = 16 }; /* bytes; the second one with 64 bits of size */

/* Returns true for the header of a box of this name. `count` may be any result of a read. */
bool mp4_box_is(const uint8_t *head, int count, const char *name);

/*
 * Returns where the box at file position `at` (>= 0), with header head[0..count), ends and the next
 * one begins. Returns -1 if the box extends to the end of the file, is invalid, or head[] lacks a
 * part of its size.
 */
int64_t mp4_box_next(const uint8_t *head, int count, int64_t at);

#endif
