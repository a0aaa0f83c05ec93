/*
 * crop.h - detects black bars and crops frames to the picture between them.
 *
 *   crop_sample_frame (a few frames) -> crop_find (the film's rectangles)
 *                                    -> crop_view (every selected frame)
 *
 * A bar is black from one end to the other, in every scene, and has a straight edge. Scenes are
 * often dark, so darkness is not enough. An edge counts only if the picture is bright along its
 * entire length, at top and bottom (or left and right) alike, in at least CROP_QUORUM frames. A
 * film may change its aspect ratio: up to three rectangles are kept. Each frame gets the tightest
 * rectangle that fits: everything outside is dark, or the frame shows the rectangle's edges itself.
 * Bars of fewer than CROP_EVERY lines are ignored.
 *
 * All arithmetic is in integers. A luma sample is "dark" if it is at most 12 (of 8 bits) above
 * black, which allows for noise. Other samples are "covered".
 */
#ifndef BARCODE_CROP_H
#define BARCODE_CROP_H

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

SHARED_BEGIN

enum { CROP_RECTS = 3, CROP_EVERY = 8 };
enum { CROP_QUORUM = 3 }; /* a rectangle needs at least this many frames */

/* In luma samples of the decoded frame, before orientation. */
struct crop_rect {
    int x, y, width, height;
};

/* The rectangles of a film whose frames are width x height, tightest first. */
struct crop {
    int width, height;
    int count;
    bool forced; /* crop every frame to the first rectangle, without detection */
    struct crop_rect rect[CROP_RECTS];
};

/* The value of --crop. */
enum crop_kind { CROP_AUTO, CROP_OFF, CROP_RECT };
struct crop_rule {
    enum crop_kind kind;
    struct crop_rect rect; /* CROP_RECT: in the displayed orientation */
};

/* The bars at both ends of one axis of a frame, as crop_sample_frame detected them. */
struct crop_axis {
    bool known;    /* false: too dark to detect */
    int low, high; /* width in samples; 0: no bar */
};

struct crop_seen {
    struct crop_axis across, down;
};

/* Detects the bars of a frame in host memory; room[width + height]. Any thread. */
struct crop_seen crop_sample_frame(const struct frame_view *view, uint32_t *room);

/* Returns false for a frame without a rectangle: too dark, or without bars. Pure; any thread. */
bool crop_suggests(const struct crop_seen *seen);

/* Returns the rectangles found in `count` different frames of width x height. Any thread. */
struct crop crop_find(const struct crop_seen *seen, size_t count, int width, int height);

/*
 * Crops `view` to the tightest rectangle that fits. Leaves it unchanged if none fits, or if its
 * size is not the crop's. The first plane of `luma` has every CROP_EVERY-th row of the frame from
 * the first one on, in host memory (crop_rows).
 */
void crop_view(const struct crop *t, const struct frame_view *luma, struct frame_view *view);

/* Returns a view of every CROP_EVERY-th row of a view, sharing its memory. */
struct frame_view crop_rows(const struct frame_view *view);

/*
 * Crops `view` to a rectangle, rounded inwards to complete chroma samples. A rectangle that extends
 * beyond the view is clipped; if nothing remains, the view is unchanged.
 */
void crop_to_rect(struct frame_view *view, const struct crop_rect *rect);

/* Convert a rectangle between a decoded frame (width x height) and the displayed orientation. */
struct crop_rect crop_to_shown(struct crop_rect r, struct orientation o, int width, int height);
struct crop_rect crop_to_decoded(struct crop_rect r, struct orientation o, int width, int height);

/* Fails with ERR_USAGE if the rule's rectangle is outside frames displayed with this size. */
bool crop_check(const struct crop_rule *rule, int width, int height, struct err *e);

enum { CROP_TEXT = 48 };

/* Writes "W:H:X:Y" into text. */
void crop_text(const struct crop_rect *r, char text[CROP_TEXT]);

/* Writes t->rect[i] in the displayed orientation, as --crop takes it. */
void crop_shown_text(const struct crop *t, int i, struct orientation o, char text[CROP_TEXT]);

SHARED_END
#endif
