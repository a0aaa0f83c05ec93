/*
 * nal_frame.h - H.264: a picture's number among those that others refer to, and whether it makes that count begin anew.
 *
 * Pure functions over untrusted bytes, as nal.h's. Sources: ITU-T H.264 7.3.3 (slice header) to 7.3.3.3, 7.4.3 (frame_num).
 */
#ifndef BARCODE_SRC_NAL_FRAME_H
#define BARCODE_SRC_NAL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nal_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nal_frame {
    uint32_t frame_num, most;  /* MaxFrameNum: it counts from 0 to one less; 0: nothing is known      */
    bool idr;
    bool reference;            /* others may refer to it                                             */
    bool resets;               /* memory_management_control_operation 5: what follows counts from it as from 0 */
    bool gaps;                 /* numbers may be left out on purpose                                 */
};

/*
 * The next picture of the packet at or behind *at (0 at first), by its first slice; *at moves behind that. False: there is none.
 */
bool nal_frame_next(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size, size_t *at, struct nal_frame *frame);

#ifdef __cplusplus
}
#endif
#endif
