/*
 * crop.h - black bars: where the picture lies inside of a film's pictures, and the cut to it.
 *
 *   crop_sample_frame (a few pictures of the film) -> crop_find (the film's rectangles) ->
 * crop_view (every staged picture)
 *
 * A bar is black all across the picture, in every scene, and ends at a straight edge. Scenes are
 * often dark, so that darkness alone says nothing: an edge counts where the picture begins brightly
 * along its whole length, top and bottom (or left and right) alike, in CROP_QUORUM different
 * pictures at least. Films may change their shape: up to three rectangles are kept, and each
 * picture takes the tightest one that holds it: outside it is dark, or shows the edges itself. Bars
 * of fewer than CROP_EVERY lines are left.
 *
 * All in whole numbers. "Dark" is a luma sample at most 12 (of 8 bits) above black, for noise;
 * "covered" is the share of samples that are not.
 */
#ifndef BARCODE_CROP_H
#define BARCODE_CROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CROP_RECTS = 3, CROP_EVERY = 8 };
enum { CROP_QUORUM = 3 }; /* fewer pictures never make a rectangle */

/* Luma samples of the decoded picture, before orientation. */
struct crop_rect {
    int x, y, width, height;
};

/* The rectangles of a film whose pictures are width x height, tightest first; count 0: it has no
 * bars. */
struct crop {
    int width, height;
    int count;
    bool forced; /* the first one is for every picture, whatever it shows */
    struct crop_rect rect[CROP_RECTS];
};

/* What --crop asked for. */
enum crop_kind { CROP_AUTO, CROP_OFF, CROP_RECT };
struct crop_rule {
    enum crop_kind kind;
    struct crop_rect rect; /* CROP_RECT: in the displayed picture */
};

/* One axis of a picture, from what crop_sample_frame saw: the bars at its two ends. */
struct crop_axis {
    bool known;    /* false: too dark to tell */
    int low, high; /* samples; 0: there is none */
};

struct crop_seen {
    struct crop_axis across, down;
};

/* Looks at one picture, in host memory. `room` has room for view->width + view->height numbers, the
 * caller's. Any thread. */
struct crop_seen crop_sample_frame(const struct frame_view *view, uint32_t *room);

/* False: the picture is none of those that may make a rectangle. It is too dark to tell, or whole
 * both ways. Pure; any thread. */
bool crop_suggests(const struct crop_seen *seen);

/* The rectangles of what was seen in `count` different pictures of width x height. Pure; any
 * thread. */
struct crop crop_find(const struct crop_seen *seen, size_t count, int width, int height);

/*
 * Cuts `view` to the tightest rectangle that holds its picture; it stays whole if none does, or if
 * its size is not the crop's. `luma` is a view whose first plane has every CROP_EVERY-th row of the
 * picture, the first one first, in host memory (crop_rows).
 */
void crop_view(const struct crop *t, const struct frame_view *luma, struct frame_view *view);

/* Every CROP_EVERY-th row of a view in host memory, as a view of the same memory. */
struct frame_view crop_rows(const struct frame_view *view);

/* Cuts `view` to a rectangle; inwards to whole chroma samples. A rectangle that does not lie in it
 * is cut to what does. */
void crop_to_rect(struct frame_view *view, const struct crop_rect *rect);

/* A rectangle of a decoded picture (width x height) as it lies in the displayed one, and the way
 * back. */
struct crop_rect crop_to_shown(struct crop_rect r, struct orientation o, int width, int height);
struct crop_rect crop_to_decoded(struct crop_rect r, struct orientation o, int width, int height);

enum { CROP_TEXT = 48 };

/* "W:H:X:Y" into text. */
void crop_text(const struct crop_rect *r, char text[CROP_TEXT]);

/* The same for t->rect[i] as it lies in the displayed picture: what --crop takes. */
void crop_shown_text(const struct crop *t, int i, struct orientation o, char text[CROP_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
