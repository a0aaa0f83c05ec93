/*
 * backlog.h - how much is left to decode in all films of a run, and how much of that is one film's, in bytes of their files.
 *
 * About: what nobody decodes (sound, what was not asked for, frames that the cache has) is left until its film ends, a film that is decoded once more has
 * nothing left, and one of which the file's size tells nothing counts as that.
 *
 * At its end a folder is decoded like the end of one film (share.h): for that the film at hand has to know what is left of the others.
 * Any thread.
 */
#ifndef BARCODE_BACKLOG_H
#define BARCODE_BACKLOG_H

#include <stdint.h>

#include "barcode/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the run. */
struct backlog;

/* Of a film under way; the run's. */
struct backlog_film;

/* Of a run whose films have so many bytes, of which up to `places` are under way at once. NULL: memory. */
struct backlog *backlog_open(uint64_t bytes, int places, struct err *e);

/* A film begins in that place, 0 to `places` - 1, where none is under way: all of its bytes are left. NULL for NULL. */
struct backlog_film *backlog_begin(struct backlog *b, int place, uint64_t bytes);

/* So many bytes of the film are decoded, or need not be; no more count than it has left. NULL is fine. */
void backlog_did(struct backlog_film *f, uint64_t bytes);

/* The film has ended, whatever became of it. Once more does nothing; NULL is fine. */
void backlog_end(struct backlog_film *f);

/* What is left of the run's other films. 0 for NULL. */
uint64_t backlog_others(const struct backlog_film *f);

/* Frees; sets *b to NULL. NULL is fine. No film is under way. */
void backlog_free(struct backlog **b);

#ifdef __cplusplus
}
#endif
#endif
