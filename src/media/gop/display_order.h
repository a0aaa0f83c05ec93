/*
 * display_order.h - in which order a decoder will show pictures of one GOP.
 */
#ifndef BARCODE_GOP_DISPLAY_ORDER_H
#define BARCODE_GOP_DISPLAY_ORDER_H

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"

/*
 * Sorts p[0..n), displayed pictures in decoding order, into display order. `torn`: some of the GOP is lost, and with it perhaps
 * a key that begins the count of order anew. Then the order is by time, and those that have none may be given one. False: the bitstream and the times contradict each other, or there is no order.
 */
bool sort_display_order(const struct run_traits *traits, bool torn, int64_t frame_us,
                        struct picture **p, size_t n);

#endif
