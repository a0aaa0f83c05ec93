/*
 * display_order.h - sorts the pictures of one GOP into display order, and gives times to those that
 * have none.
 */
#ifndef BARCODE_GOP_DISPLAY_ORDER_H
#define BARCODE_GOP_DISPLAY_ORDER_H

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/select/time_queue.h"
#include "barcode/base/err.h"

/*
 * Sorts p[0..n), displayed pictures in decoding order, into display order. `gaps`: pictures of the
 * GOP are missing, perhaps a key frame that restarts the order count. Then the order is by time,
 * and pictures without a time may get one. Returns false if bitstream and times contradict each
 * other, or if there is no order.
 */
bool sort_display_order(const struct codec_traits *traits, bool gaps, int64_t frame_us,
                        struct picture **p, size_t n);

/* Queues the places of those of p[0..n), in decoding order, that are displayed and not queued yet.
 */
bool order_queue_places(struct time_queue *places, struct picture *p, size_t n, struct err *e);

/*
 * Gives shown[0..n), the next pictures in display order, the times of their places, if any wait;
 * `after`, the picture after them, keeps its place in the queue. It may be NULL.
 */
void order_apply_places(struct time_queue *places, int64_t frame_us, struct picture **shown,
                        size_t n, struct picture *after);

/* Gives a film's first frame, shown[0], a time if it has none, by the first one that has. */
void order_date_first(struct picture **shown, size_t n, int64_t frame_us);

#endif
