/*
 * find.h - `barcode find`: the films of a library and their index, where in them a clip is, and
 * which of them share their sound. Main thread only.
 */
#ifndef BARCODE_MATCH_FIND_H
#define BARCODE_MATCH_FIND_H

#include "find_index.h"
#include "match/align/align_path.h"
#include "match/command.h"
#include "sound/film_sound.h"

/* ---- find_library.c ---- */

struct find_library {
    struct command_films films;
    struct hash128 *id; /* [films.in.count]: of the files as they are now; 0: none */
    bool *has;          /* [films.in.count]: the film is in the index */
    struct find_index index;
    size_t known; /* films that are in the index */
};

/* Lists the films of the files and folders word[words]. The caller calls find_library_close. */
bool find_library_open(struct find_library *l, const struct options *o, char **word, size_t words,
                       bool recursive, struct err *e);

/*
 * Calls `visit` with the sound of each film i for which skip[i] is not set (NULL: all), from the
 * cache or decoded. Films that fail are reported and left out; then *status is not 0. Returns false
 * with `e`, or in a worker process, which must end with *status.
 */
typedef bool find_visit(void *user, size_t i, const struct film_sound *sound, struct err *e);
bool find_library_each(struct find_library *l, const bool *skip, find_visit *visit, void *user,
                       int *status, struct err *e);

/*
 * Opens the index of the library word[words] and adds the films that are not in it. The second call
 * removes what is damaged before. Returns false as find_library_each.
 */
bool find_library_index(struct find_library *l, char *const *word, size_t words, int *status,
                        struct err *e);

void find_library_close(struct find_library *l);

/* ---- find_votes.c ---- */

enum {
    FIND_FAN = 2 * LANDMARK_FAN, /* of the clip: a partner may be missing in the film */
    FIND_LANDMARKS_MOST = 20000, /* of a clip, five minutes: later ones are left out */
    FIND_PLACES = 32             /* films of a result */
};

struct find_place {
    uint32_t film;     /* its number in the library */
    int32_t offset;    /* the film's frame at the clip's frame 0; may be negative */
    int32_t sixteenth; /* the same in 1/16 frames, from the mean of the votes */
    uint32_t votes;    /* landmarks at that offset, or one frame before or after it; 0: no place */
    uint32_t peaks; /* of the clip, that the film has there; 0: not counted (find_refine_offsets) */
};

struct find_result {
    struct find_place place[FIND_PLACES]; /* each film's best, by votes; the rest has none */
    size_t found;             /* places with enough votes, and at least half of the best's */
    size_t landmarks;         /* of the clip, that were looked up */
    uint32_t needed;          /* with fewer votes, the clip is from none of the films */
    struct align_speed speed; /* of the film, in the clip's */
};

/*
 * Looks up a clip. If it is from none of the films, the known changes of speed are tried. Returns
 * false with an error of find_index_look.
 */
bool find_clip(struct find_index *x, const struct align_sound *clip, struct find_result *result,
               struct err *e);

/* Loads the sound of a film of the library. Returns false if it is not at hand. */
typedef bool find_load(void *user, uint32_t film, struct film_sound *sound);

/*
 * Moves each place of the result to where its film has the most of the clip's peaks. If the sound
 * of all the films is at hand, the one that has the most is put first. Returns false if out of
 * memory.
 */
bool find_refine_offsets(struct find_result *r, const struct align_sound *clip, find_load *load,
                         void *user, struct err *e);

/* ---- find_same.c: candidates by shared_words.h, compared by align_map.h ---- */

struct find_same_pair {
    size_t a, b; /* films of the library, a < b */
    uint32_t group;
    int64_t common_us;        /* of a's time */
    int64_t a_us, b_us;       /* lengths of their sounds */
    int speed_num, speed_den; /* a's time that passes in b's */
};

struct find_same {
    struct find_same_pair *pair; /* [pairs] by group, a, b */
    size_t pairs;
};

/*
 * Finds the films of which at least a tenth of the shorter one is in the other. Returns false as
 * find_library_each. The caller calls find_same_free in any case.
 */
bool find_same_films(struct find_library *l, struct find_same *s, int *status, struct err *e);

void find_same_free(struct find_same *s);

#endif
