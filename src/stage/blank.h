/*
 * blank.h - packets of zeros, where no packet of a codec is like that; raw pictures that are too short; JPEGs that break off.
 *
 * A packet of zeros is a picture of many codecs: a black one of those that do not compress, one that changes nothing of others. Of
 * most it is none, and their decoders say so. The decoders of a few say nothing, or find a picture in it: these are listed.
 */
#ifndef BARCODE_BLANK_H
#define BARCODE_BLANK_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

/* True if the packet's bytes are none: zeros all of them, of a codec whose packets never are. */
bool blank_is(enum AVCodecID codec, const AVPacket *packet);

/*
 * True if it is a raw picture of a palette with fewer bytes than such a picture has. Libavcodec fills the rest with what the memory
 * held (rawdec.c, where the packet's size says how long a row is), and says nothing; of other raw pictures it says so.
 */
bool blank_short(const AVCodecParameters *par, const AVPacket *packet);

/* True if a JPEG does not end behind its last scan. Whole films of some cameras and of Avid's are like that, all through or mostly. */
bool blank_endless(const AVPacket *jpeg);

#endif
