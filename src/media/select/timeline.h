/*
 * timeline.h - from stored presentation times to film time: microseconds from the first
 * displayed frame, which never runs twice. Fed in display order; one thread; copy freely.
 */
#ifndef BARCODE_SELECT_TIMELINE_H
#define BARCODE_SELECT_TIMELINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIME_NONE INT64_MIN

struct timeline {
    int64_t frame_us;  /* nominal time of one frame, > 0 */
    int64_t origin_us; /* stored time of the first frame, TIME_NONE until there is one */
    int64_t shift_us;  /* added since the last jump back */
    int64_t last_us;   /* film time of the last frame, -1 before the first */
};

struct timeline timeline_begin(int64_t frame_us);

/*
 * Film time (>= 0) of the next frame, stored at `pts_us`. Without one (TIME_NONE): one nominal
 * frame after the last. A jump back by more than a second or ahead by more than an hour (a
 * concatenated recording, a broken clock) is bridged the same way. Asking twice for the same frame
 * gives the same answer; timeline_step makes it the last one.
 */
int64_t timeline_at(struct timeline *t, int64_t pts_us);
/*
 * How long the film's last frame stays on the screen, when its packet says `duration_us` (0:
 * nothing): the nominal time of a frame, unless that is far from it, as in a show of slides.
 */
int64_t timeline_last_stays(const struct timeline *t, int64_t duration_us);
void timeline_step(struct timeline *t, int64_t time_us);

#ifdef __cplusplus
}
#endif
#endif
