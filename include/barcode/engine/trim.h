/*
 * trim.h - black bars: where the picture lies inside of a film's pictures, and the cut to it.
 *
 *   trim_look (a few pictures of the film) -> trim_find (the film's rectangles) -> trim_view (every staged picture)
 *
 * A bar is black all across the picture, in every scene, and ends at a straight edge. Scenes are often dark, so that darkness
 * alone says nothing: an edge counts where the picture begins brightly along its whole length, top and bottom (or left and right) alike,
 * in TRIM_QUORUM different pictures at least. Films may change their shape: up to three rectangles are kept, and each picture takes the
 * tightest one that holds it: outside it is dark, or shows the edges itself. Bars of fewer than TRIM_EVERY lines are left.
 *
 * All in whole numbers. "Dark" is a luma sample at most 12 (of 8 bits) above black, for noise; "covered" is the share of samples
 * that are not.
 */
#ifndef BARCODE_TRIM_H
#define BARCODE_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TRIM_RECTS = 3, TRIM_EVERY = 8 };
enum { TRIM_QUORUM = 3 };         /* fewer pictures never make a rectangle */

/* Luma samples of the decoded picture, before orientation. */
struct trim_rect {
    int x, y, width, height;
};

/* The rectangles of a film whose pictures are width x height, tightest first; count 0: it has no bars. */
struct trim {
    int width, height;
    int count;
    bool forced;                  /* the first one is for every picture, whatever it shows */
    struct trim_rect rect[TRIM_RECTS];
};

/* What --trim asked for. */
enum trim_kind { TRIM_AUTO, TRIM_OFF, TRIM_RECT };
struct trim_rule {
    enum trim_kind kind;
    struct trim_rect rect;        /* TRIM_RECT: in the displayed picture */
};

/* One axis of a picture, from what trim_look saw: the bars at its two ends. */
struct trim_axis {
    bool known;                   /* false: too dark to tell    */
    int low, high;                /* samples; 0: there is none  */
};

struct trim_seen {
    struct trim_axis across, down;
};

/* Looks at one picture, in host memory. `room` has room for view->width + view->height numbers, the caller's. Any thread. */
struct trim_seen trim_look(const struct frame_view *view, uint32_t *room);

/* False: the picture is none of those that may make a rectangle. It is too dark to tell, or whole both ways. Pure; any thread. */
bool trim_suggests(const struct trim_seen *seen);

/* The rectangles of what was seen in `count` different pictures of width x height. Pure; any thread. */
struct trim trim_find(const struct trim_seen *seen, size_t count, int width, int height);

/*
 * Cuts `view` to the tightest rectangle that holds its picture; it stays whole if none does, or if its size is not the trim's.
 * `luma` is a view whose first plane has every TRIM_EVERY-th row of the picture, the first one first, in host memory (trim_rows).
 */
void trim_view(const struct trim *t, const struct frame_view *luma, struct frame_view *view);

/* Every TRIM_EVERY-th row of a view in host memory, as a view of the same memory. */
struct frame_view trim_rows(const struct frame_view *view);

/* Cuts `view` to a rectangle; inwards to whole chroma samples. A rectangle that does not lie in it is cut to what does. */
void trim_crop(struct frame_view *view, const struct trim_rect *rect);

/* A rectangle of a decoded picture (width x height) as it lies in the displayed one, and the way back. */
struct trim_rect trim_to_shown(struct trim_rect r, struct orientation o, int width, int height);
struct trim_rect trim_to_decoded(struct trim_rect r, struct orientation o, int width, int height);

enum { TRIM_TEXT = 48 };

/* "W:H:X:Y" into text. */
void trim_text(const struct trim_rect *r, char text[TRIM_TEXT]);

/* The same for t->rect[i] as it lies in the displayed picture: what --trim takes. */
void trim_shown_text(const struct trim *t, int i, struct orientation o, char text[TRIM_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
