/*
 * shots.h - a film's shots: from small frames (scan frames) to facts of every frame, and from these
 * to shots.
 *
 *   scan_open -> scan_put ... (any order) -> scan_end -> film_scan -> shots_find -> shots
 *
 * A film_scan does not depend on the threshold, so the cache keeps it. Integers only: the result
 * is the same whatever decoded and downscaled the frames.
 */
#ifndef BARCODE_SHOTS_H
#define BARCODE_SHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

enum {
    SCAN_WIDTH = 64, /* of a scan frame */
    SCAN_HEIGHT = 36,
    SHOT_THRESHOLD_USUAL = 27, /* --shot-threshold */
    SHOT_THRESHOLD_MOST = 255,
    SHOT_LEAST_US = 500000, /* shorter shots are joined */
    SCAN_VERSION = 1        /* of what scan_end computes and film_scan_write writes */
};

enum {
    SCAN_UNIT = 16,                  /* of distances: parts of a level of 0..255 */
    SCAN_NEAR = 6,                   /* a frame is compared to so many frames before it, */
    SCAN_FAR = 7,                    /* and to so many farther before */
    SCAN_LAGS = SCAN_NEAR + SCAN_FAR /* how far: scan_lag */
};

/* 1, 2, ... SCAN_NEAR, then even ones. */
extern const uint8_t scan_lag[SCAN_LAGS];

/*
 * The facts of a displayed frame. A distance is the mean of |dY| + (|dCb| + |dCr|) / 2 in
 * SCAN_UNIT; a likeness is the squared correlation of luma, 0..255, or 0 if it is negative. An
 * earlier frame that is missing is replaced by the one before it, or by the first.
 */
struct scan_frame {
    uint64_t frame;               /* its number, from 0 */
    int64_t time_us;              /* as frame_tag.time_us */
    uint8_t mean[3];              /* its mean colour */
    uint8_t luma, contrast;       /* mean and standard deviation of its luma, BT.601, 0..255 */
    uint8_t likeness[SCAN_LAGS];  /* to the frame scan_lag[i] before */
    uint16_t distance[SCAN_LAGS]; /* to that frame */
    uint16_t residue[SCAN_FAR];   /* distance of the mean of that frame and this one to the frame
                                      between them; for the far lags */
};

/* All frames of a film between --start and --end, in display order. Missing ones are left out. */
struct film_scan {
    struct scan_frame *frame;
    size_t count;
    int64_t end_us; /* when the last one leaves the screen */
};

struct scan;

/* Opens the memory for a film's scan frames. */
struct scan *scan_open(struct err *e);

/*
 * Adds a displayed frame, rgb[SCAN_HEIGHT][SCAN_WIDTH][3]. In any order; any thread. Numbers may be
 * missing; one that was added before is ignored. Memory: 110 bytes for each number up to the
 * largest, and 2 KB for each frame without all 96 neighbours on both sides.
 */
bool scan_put(struct scan *s, uint64_t frame, int64_t time_us, const uint8_t *rgb, struct err *e);

/*
 * Computes the facts after the last frame. `end_us`: when the film's last frame leaves the screen;
 * -1: unknown. The caller frees *out, also on failure. One thread.
 */
bool scan_end(struct scan *s, int64_t end_us, struct film_scan *out, struct err *e);
void scan_free(struct scan **s);

void film_scan_free(struct film_scan *s);

/* Returns the facts as bytes, which the caller frees. */
bool film_scan_write(const struct film_scan *s, uint8_t **bytes, size_t *count, struct err *e);

/* Reads any bytes. Fails with ERR_INPUT if they are invalid, and leaves *out empty. */
bool film_scan_read(struct film_scan *out, const uint8_t *bytes, size_t count, struct err *e);

/*
 * How a shot begins. The boundary of a fade, through any one colour, is the middle of its frames with
 * the least contrast; that of a dissolve is its middle.
 */
enum shot_transition { SHOT_CUT, SHOT_FADE, SHOT_DISSOLVE };

struct shot {
    uint64_t frame;                 /* number of its first frame */
    uint64_t frames;                /* up to the next shot's first frame, 1 or more */
    int64_t start_us, end_us;       /* when it is on the screen; end_us is the next one's start */
    enum shot_transition begins_by; /* SHOT_CUT for the first one */
    uint32_t transition_frames;     /* about, of the fade or dissolve around it; 0: a cut */
    uint8_t mean[3];                /* mean colour of its frames, rounded half up */
};

/* Shots in the order of time, without gaps, 1 or more. */
struct shots {
    struct shot *shot;
    size_t count;
};

/* Returns "cut", "fade" or "dissolve". */
const char *shot_transition_name(enum shot_transition t);

/*
 * Finds the shots of a scan with at least one frame. `threshold`: 1..SHOT_THRESHOLD_MOST, the
 * least score of a cut. The caller frees *out with shots_free, also on failure. Any thread.
 */
bool shots_find(const struct film_scan *s, int threshold, struct shots *out, struct err *e);
void shots_free(struct shots *s);

#endif
