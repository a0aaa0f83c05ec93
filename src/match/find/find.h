/* find.h - where in the films of an index a clip is. Main thread only. */
#ifndef BARCODE_MATCH_FIND_H
#define BARCODE_MATCH_FIND_H

#include "find_index.h"
#include "match/align/align_path.h"
#include "sound/film_sound.h"

enum {
    FIND_FAN = 2 * LANDMARK_FAN, /* of the clip: a partner may be missing in the film */
    FIND_LANDMARKS_MOST = 20000, /* of a clip, five minutes: later ones are left out */
    FIND_PLACES = 32,            /* films of a result */
    FIND_PARTS = 16              /* of an edited clip */
};

struct find_place {
    uint32_t film;     /* its number in the library */
    int32_t offset;    /* the film's frame at the clip's frame 0; may be negative */
    int32_t sixteenth; /* the same in 1/16 frames, from the mean of the votes */
    uint32_t votes;    /* landmarks at that offset, or one frame before or after it; 0: no place */
    uint32_t peaks; /* of the clip, that the film has there; 0: not counted (find_refine_offsets) */
    struct align_speed speed; /* of the film, in the clip's */
};

struct find_result {
    struct find_place place[FIND_PLACES]; /* each film's best, by votes; the rest has none */
    size_t found;     /* places with enough votes, and at least half of the best's */
    size_t landmarks; /* of the clip, that were looked up */
    uint32_t peaks;   /* of the clip, that find_refine_offsets counts */
    uint32_t needed;  /* with fewer votes, the clip is from none of the films */
};

/*
 * Looks up a clip. If it is from none of the films, other speeds are tried. Returns
 * false with an error of find_index_look.
 */
bool find_clip(struct find_index *x, const struct align_sound *clip, struct find_result *result,
               struct err *e);

/* Loads the sound of a film of the library. Returns false if it is not at hand. */
typedef bool find_load(void *user, uint32_t film, struct film_sound *sound);

/*
 * Finds the speed of each place of the result, and moves it to where its film has the most of the
 * clip's peaks. If the sound of all the films is at hand, the one that has the most is put first.
 * Returns false if out of memory.
 */
bool find_refine_offsets(struct find_result *r, const struct align_sound *clip, find_load *load,
                         void *user, struct err *e);

/*
 * Tries the best films of a result without enough votes by all peaks, as quiet music has few wide
 * ones. One is found that has a quarter of the clip's peaks at an offset, and twice those of any
 * other. Returns false if out of memory.
 */
bool find_by_peaks(struct find_result *r, const struct align_sound *clip, find_load *load,
                   void *user, struct err *e);

/* Frames [from, to) of an edited clip, and their places. */
struct find_part {
    uint32_t from, to;
    struct find_result result;
};

/*
 * Finds the parts of a clip that spans cuts, by its places `r`: those of 5 s or longer that are
 * found, in order. A clip without a cut has one. Fails as find_clip.
 */
bool find_parts(struct find_index *x, const struct align_sound *clip, const struct find_result *r,
                find_load *load, void *user, struct find_part *part, size_t *parts, struct err *e);

#endif
