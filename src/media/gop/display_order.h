/*
 * display_order.h - sorts the pictures of one GOP into display order.
 */
#ifndef BARCODE_GOP_DISPLAY_ORDER_H
#define BARCODE_GOP_DISPLAY_ORDER_H

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"

/*
 * Sorts p[0..n), displayed pictures in decoding order, into display order. `gaps`: pictures of the
 * GOP are missing, perhaps a key frame that restarts the order count. Then the order is by time,
 * and pictures without a time may get one. Returns false if bitstream and times contradict each
 * other, or if there is no order.
 */
bool sort_display_order(const struct codec_traits *traits, bool gaps, int64_t frame_us,
                        struct picture **p, size_t n);

#endif
