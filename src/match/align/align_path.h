/*
 * align_path.h - the best path of film B through the offsets that it may have in film A.
 *
 * A landmark (landmarks.h) that both films have is a vote for an offset: the frame of its anchor in
 * A less that in B. Blocks of B's time each propose their offsets with the most votes.
 *
 * B's time is divided into windows. In each, B is at one of the offsets or is not in A. A path wins
 * a point for each peak that both films have at its offset, at most POINTS_MOST a window, and loses
 * a share of a point for each peak that only one film has there. A change of offset has a price.
 * Time never goes back in A, but by a few frames for a small price, as where a clock drifts. The
 * best path is found by dynamic programming (Viterbi).
 */
#ifndef BARCODE_MATCH_ALIGN_PATH_H
#define BARCODE_MATCH_ALIGN_PATH_H

#include "align_map.h"
#include "barcode/sound/spectrogram.h"

/* num frames of A take as long as den of B: 25/24 if B runs faster by that. */
struct align_speed {
    uint16_t num, den;
    bool same_pitch; /* B's speed was changed without its pitch */
};

/* Speeds that are measured have it as denominator. */
enum { ALIGN_SPEED_UNIT = 10000 };

/* Returns true if two speeds are the same, with or without a change of pitch. */
static inline bool align_speed_is(struct align_speed x, struct align_speed y)
{
    return x.num * y.den == y.num * x.den;
}

/* Returns the *n known changes of speed; the first is none. */
const struct align_speed *align_speeds(size_t *n);

/* Returns *n speeds that are so near to each other that landmarks suit one; the first is none. */
const struct align_speed *align_even_speeds(size_t *n);

struct align_peaks {
    struct peak *point; /* [count] in peaks_list's order */
    size_t count;
    uint32_t frames; /* of the spectrogram; all points are in it */
    uint32_t *start; /* [frames + 1] index of each frame's first point */
    uint32_t *loud;  /* [frames + 1] number of points before each frame where it is not quiet */
    int reach;       /* a point is the same as another whose bin is this near */
};

/*
 * Copies a film's peaks, or its wide peaks only, at another speed: times are multiplied by it, and
 * frequencies divided by it unless the pitch is the same. Returns false if out of memory. The
 * caller calls align_peaks_free in any case.
 */
bool align_peaks_make(const struct align_sound *sound, bool wide, struct align_speed speed,
                      struct align_peaks *out, struct err *e);
void align_peaks_free(struct align_peaks *p);

/* Returns true if there is a point in this frame whose bin is at most `reach` away. */
bool align_peaks_has(const struct align_peaks *p, int64_t frame, int bin, int reach);

/* Returns true if b->point[i] is in `a` too, `offset` frames later, at most one frame away. */
bool align_peaks_shared(const struct align_peaks *a, const struct align_peaks *b, size_t i,
                        int32_t offset);

/* Returns the index of the first point whose frame is `frame` or later. */
size_t align_peaks_first(const struct align_peaks *p, int64_t frame);

enum {
    ALIGN_FRAME_US = 1000000 / SPECTROGRAM_RATE * SPECTROGRAM_HOP +
                     1000000 % SPECTROGRAM_RATE * SPECTROGRAM_HOP / SPECTROGRAM_RATE, /* 32000 */
    ALIGN_WINDOW = 32,       /* frames: 1.024 s */
    ALIGN_DRIFT = 3,         /* frames: offsets this near are a clock's drift */
    ALIGN_ABSENT_SHARE = 16, /* peaks of each film that are worth a shared one */
    ALIGN_WORTH_MOST = 2 * ALIGN_ABSENT_SHARE,
    ALIGN_CHANGE = 24 /* points: price of a change */
};

/* Windows of B at one offset: frames [from, to). */
struct align_run {
    int32_t offset; /* in frames */
    uint32_t from, to;
    int worth; /* of a shared peak (align_peaks_points) */
};

/*
 * Returns what frames [from, to) of B win in a run: its worth for each peak that both films have,
 * less one for each peak of either. Where a film is quiet, as in a pause of speech, another copy of
 * it has peaks of other noise: there its peaks lose nothing.
 */
int64_t align_peaks_points(const struct align_peaks *a, const struct align_peaks *b,
                           const struct align_run *run, int64_t from, int64_t to);

struct align_path {
    struct align_run *run; /* [runs] by time in both films */
    size_t runs;
    int64_t points;
};

/* B at the speed at which it fits A best, and its best path. */
struct align_fit {
    struct align_speed speed;
    struct align_peaks a, b; /* all peaks; b's at the speed */
    struct align_path path;
};

/* Returns false if out of memory or interrupted. The caller calls align_fit_free in any case. */
bool align_fit_find(const struct align_sound *a, const struct align_sound *b, struct align_fit *out,
                    struct err *e);
void align_fit_free(struct align_fit *f);

/* Returns a run's offset, between frames too: the mean of the shared peaks'. */
int64_t align_run_offset_us(const struct align_fit *f, const struct align_run *run);

#endif
