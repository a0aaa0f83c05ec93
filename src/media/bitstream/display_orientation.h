/*
 * display_orientation.h - the SEI message of H.264 (D.1.27) and HEVC (D.2.17) which tells how a
 * decoded frame is to be turned. Pure functions over untrusted bytes.
 */
#ifndef BARCODE_BITSTREAM_DISPLAY_ORIENTATION_H
#define BARCODE_BITSTREAM_DISPLAY_ORIENTATION_H

#include "packet_scan.h"

struct display_orientation {
    bool hor_flip, ver_flip; /* before the rotation */
    uint16_t anticlockwise;  /* rotation in units of 1/65536 of a turn */
};

/*
 * Reads the display orientation of a packet from its units before the first slice. The arguments
 * are those of packet_scan. Returns false if there is none, or one that cancels an earlier one.
 */
bool nal_display_orientation(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
                             struct display_orientation *o);

/* The same for HEVC's extradata, which may contain SEI messages for the complete film. */
bool nal_extradata_display_orientation(const uint8_t *extradata, size_t size,
                                       struct display_orientation *o);

#endif
