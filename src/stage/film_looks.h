/*
 * film_looks.h - the places of a film at which a look for bars seeks a key frame (film_bars.h), and which of them it may leave out.
 *
 * A key frame is large: of a film of 30 s in 1080p five took a thirtieth of what decoding all of it takes. Where an index of all pictures
 * tells them apart, each is looked at once, the small ones first, and the TRIM_QUORUM - 1 largest only where the others leave it open
 * whether there are bars (trim_suggests): by themselves they are too few to show any. Cues are no such index: key frames that they do not
 * name are come to only by reading on from a time.
 */
#ifndef BARCODE_STAGE_FILM_LOOKS_H
#define BARCODE_STAGE_FILM_LOOKS_H

#include "key_index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOOKS = 24 };              /* places, spread evenly over the film                            */
enum { LOOKS_FEW = 4 };           /* fewer different pictures do not tell what shape a film has    */

struct film_place {
    int place;                    /* from 0 to LOOKS - 1                                              */
    int64_t seek;                 /* what to seek to come to its key frame, as key_entry.seek; AV_NOPTS_VALUE: the place itself */
};

struct film_looks {
    struct film_place at[LOOKS];  /* in the order in which they are looked at                         */
    int count;
    int sure;                     /* so many of them are looked at in any case, 0 to count             */
};

/* How far a place lies into what is so long: the middle of its part, a LOOKS-th. */
int64_t film_looks_part(int64_t length, int place);

/* When a place is, in microseconds of the film's own times, which begin at `start_us`. The film's duration is known. */
int64_t film_looks_time(const struct film *film, int64_t start_us, int place);

/* One place a key frame of the index, which lists all; all places in their order where that has none. Pure; any thread. */
void film_looks_plan(struct film_looks *looks, const struct key_index *index, const struct film *film, int64_t start_us);

#ifdef __cplusplus
}
#endif
#endif
