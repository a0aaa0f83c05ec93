/* find_settle.h - where in a film a clip is, by all of their peaks. Any thread. */
#ifndef BARCODE_FIND_SETTLE_H
#define BARCODE_FIND_SETTLE_H

#include "sound/film_sound.h"
#include "find_votes.h"

/* Loads the sound of a film of the library. Returns false if it is not at hand. */
typedef bool find_load(void *user, uint32_t film, struct film_sound *sound);

/*
 * Moves each place of the result to where its film has the most of the clip's peaks. If the sound
 * of all the films is at hand, the one that has the most is put first. Returns false if out of
 * memory.
 */
bool find_settle(struct find_result *r, const struct align_sound *clip, find_load *load, void *user,
                 struct err *e);

#endif
