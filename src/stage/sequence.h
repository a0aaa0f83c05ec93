/*
 * sequence.h - MPEG-1 and MPEG-2: where a film's sequence header changes in mid-film, and how a decoder is kept from losing pictures there.
 *
 * libavcodec's decoder holds the last reference picture back until the next one is there. When a sequence header has another size or
 * shape of a pixel it begins anew, and what it holds is gone without a word: television does that at each advert. When only the chroma
 * format changes it does not begin anew, and decodes the new pictures as if they had the old one. So such a picture begins a run, before
 * which the decoder is drained and made to begin anew. What leads it in an open GOP may refer to another recording: it is not shown.
 *
 * The shape of a pixel also goes by the display extension, with which a sequence need not end. We stretch no picture, so no decoder needs
 * to hear of that shape: it gets 1:1 always, and begins anew where we say.
 *
 * Pure functions over untrusted bytes. ISO/IEC 11172-2 2.4.2.3; ITU-T H.262 6.2.2.1, 6.2.2.3, 6.3.3, 6.3.5.
 */
#ifndef BARCODE_SRC_SEQUENCE_H
#define BARCODE_SRC_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is in force. Zero it first. */
struct sequence {
    uint64_t form;         /* all of it that a decoder cannot take over from the sequence before; 0: none was seen */
    uint32_t number;       /* counts its changes                                                                  */
    bool begun;            /* a picture came                                                                      */
    bool changed;          /* since the last picture                                                              */
    bool shaped;           /* some header so far named a shape of the pixel that is not 1:1                        */
    bool orphans, broken;  /* what leads the last reference picture has lost what it refers to; it says so itself */
};

/*
 * Goes on with a packet, `info` being its nal_scan of STREAM_MPEG2. Fills sequence, anew, orphan and shaped of *p, makes a key of an intra
 * picture that begins a sequence, and hides what leads one that says that its link is broken.
 */
void sequence_note(struct sequence *s, const uint8_t *data, size_t size, const struct nal_info *info, struct picture *p);

/* True if a header before the packet's picture names another shape of the pixel than 1:1. */
bool sequence_is_shaped(const uint8_t *data, size_t size);

/* Writes 1:1 as the shape of a pixel into the headers before the packet's picture. */
void sequence_square(uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
