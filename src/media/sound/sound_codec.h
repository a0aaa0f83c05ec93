/* sound_codec.h - which decoder a stream of sound gets. Any thread. */
#ifndef BARCODE_SOUND_SOUND_CODEC_H
#define BARCODE_SOUND_SOUND_CODEC_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "sound/film_sound.h"

struct sound_codec {
    const char *path; /* of the film */
    const AVCodecParameters *par;
    const AVCodec *codec; /* NULL: the stream cannot be decoded */
    /*
     * A new decoder gives the same samples after some packets, except for the noise that it makes
     * up. So segments of the stream can be decoded at the same time.
     */
    bool apart;
};

/*
 * Sets *c to the exact decoder if there is one, else to libavcodec's choice, if it can be opened.
 * `par` and `path` are borrowed. Returns false if out of memory.
 */
bool sound_codec_choose(const AVCodecParameters *par, const char *path, struct sound_codec *c,
                        struct err *e);

/*
 * Returns a decoder; NULL on failure, with `e` if out of memory. The caller frees it. `first`: it
 * gets the stream's first packets, and skips what the container declares as padding.
 */
AVCodecContext *sound_codec_open(const struct sound_codec *c, bool first, struct err *e);

/*
 * Returns true if packets behind this one need it: it has another header, or the layout that FFmpeg
 * writes to the first packet alone, if AAC has no number for it, as for 5.1(side) in MPEG-TS.
 */
bool sound_codec_is_header(const struct sound_codec *c, const AVPacket *packet);

/* Sets the rate, channels and layout of *s. */
void sound_codec_describe(struct film_sound *s, int rate, const AVChannelLayout *layout);

#endif
