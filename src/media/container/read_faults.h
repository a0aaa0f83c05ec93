/*
 * read_faults.h - what the system could not read of a film, in any of the contexts that read it.
 * Demuxers take a failed read for the end of the film or for damage, and do not return it.
 */
#ifndef BARCODE_CONTAINER_READ_FAULTS_H
#define BARCODE_CONTAINER_READ_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "media/ffmpeg/av_log.h"
#include "barcode/base/err.h"

/* Any thread. Every function accepts NULL: nothing is recorded, and there are no faults. */
struct read_faults;

/*
 * Makes an empty record, which the caller frees. With `keep_going` (--keep-going) unreadable bytes
 * are skipped. Returns NULL if out of memory.
 */
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

/*
 * Records that a part of the film is missing, but what else there is can be read. The text, as of
 * printf, goes behind "'FILM': ". The first one counts.
 */
void read_faults_lack(struct read_faults *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the first text, or "". It is valid until the faults are freed. */
const char *read_faults_lacking(struct read_faults *f);

/*
 * Records what a demuxer could not read of the files that FFmpeg itself opened: those that "concat"
 * names.
 */
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

/*
 * The same if the film could not be opened: also skipped bytes and a missing part are the cause.
 * Returns false.
 */
bool read_faults_explain(struct read_faults *f, const char *path, struct err *e);

#endif
