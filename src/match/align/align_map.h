/*
 * align_map.h - which times of one film are which times of another version of it, by their sound.
 *
 * Landmarks (landmarks.h) that both have vote for an offset of time. A path through the offsets
 * with the most votes gives the parts that both films have, in order; a scene that was
 * moved to another place is missing in both. The films may run at different speeds, as after a
 * conversion from 24 to 25 frames a second.
 */
#ifndef BARCODE_ALIGN_MAP_H
#define BARCODE_ALIGN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/sound/peaks.h"

enum align_kind { ALIGN_BOTH, ALIGN_ONLY_A, ALIGN_ONLY_B };

/* A part. A part of one film only has no length in the other: the place where it is missing. */
struct align_segment {
    enum align_kind kind;
    int64_t a_from_us, a_to_us, b_from_us, b_to_us;
};

struct film_sound;

struct align_sound {
    const struct peak *peak; /* [peaks] in peaks_list's order */
    size_t peaks;
    uint64_t samples;              /* film_sound.samples */
    const struct film_sound *film; /* for its loudness; NULL: it is not known */
};

enum { ALIGN_SCORE_MOST = 1000, ALIGN_SCORE_LEAST = 50 };

struct align_map {
    int speed_num, speed_den; /* A's time that passes in B's: 25/24 if B runs faster by that */
    bool same_pitch;          /* B's pitch was not changed with its speed */
    struct align_segment *segment;
    size_t segments;
    int64_t a_us, b_us; /* lengths of the sounds */
    int64_t common_us;  /* of A's time, that both have */
    /*
     * the peaks of the film with fewer ones that the other has at their times, of
     * ALIGN_SCORE_MOST; below ALIGN_SCORE_LEAST: other films
     */
    int score;
};

/*
 * Aligns two films. The segments cover both from time 0 to their ends. Films without anything in
 * common are no error: the score is 0. Returns false if out of memory or interrupted. Any thread;
 * the same for each call. The caller calls align_map_free in any case.
 */
bool align_map_make(const struct align_sound *a, const struct align_sound *b, struct align_map *out,
                    struct err *e);

void align_map_free(struct align_map *map);

/* Returns "both", "a" or "b". */
const char *align_kind_name(enum align_kind kind);

#endif
