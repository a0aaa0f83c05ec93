/*
 * align_frames.h - places an edit to the frame, by small pictures of the frames around it.
 *
 * One film goes on at once where the other has a scene more. Its frames are those of the other film
 * before the scene, and from a frame x on those after the scene. The x at which the pictures
 * differ least is the edit. Integers only.
 */
#ifndef BARCODE_MATCH_ALIGN_FRAMES_H
#define BARCODE_MATCH_ALIGN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALIGN_FRAME_BYTES = 16 * 9 * 3 };

/* All frames of a short time. */
struct align_frames {
    int64_t *time_us; /* [count], ascending */
    uint8_t *rgb;     /* [count][ALIGN_FRAME_BYTES] */
    size_t count;
};

/* An edit: in the film that goes on, and the scene in the other one. */
struct align_edit {
    int64_t own_us, from_us, to_us;
    int num, den; /* of the other film's time for that of the one that goes on */
};

/*
 * Moves *edit to the frame. `own` are the frames around own_us, `before` and `after` those around
 * from_us and to_us. Returns false, and leaves it, if the pictures do not show where it is: they
 * are black, or not the same in both films. Pure.
 */
bool align_frames_refine(const struct align_frames *own, const struct align_frames *before,
                         const struct align_frames *after, struct align_edit *edit);

#endif
