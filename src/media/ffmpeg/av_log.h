/*
 * av_log.h - messages of libav: what demuxers report, and a hook for those of decoders.
 */
#ifndef BARCODE_FFMPEG_AV_LOG_H
#define BARCODE_FFMPEG_AV_LOG_H

#include <libavcodec/avcodec.h>
#include <stdint.h>

/* From the first call on libav's messages come here. Any thread, any number of times. */
void av_log_install(void);

/* What demuxers say while they read a film. They step over damage without a return code: this is
 * the only sign of it. */
struct av_log_counts {
    uint64_t errors; /* messages that are errors */
    /* MPEG-TS: a counter jumped, so that packets are missing, of whichever stream */
    uint64_t jumps;
    /* MPEG-TS: no packet was where one must be; the next one had to be looked for */
    uint64_t searches;
};

/*
 * From here on each message of a demuxer on this thread is counted in *said, which the caller
 * keeps; NULL: none is. It does not matter which AVFormatContext logs it: a playlist's demuxer
 * opens contexts of its own. Returns what was counted into before, for the caller to set again. Any
 * thread, each for itself.
 */
struct av_log_counts *av_log_listen(struct av_log_counts *logged);

/* Takes a decoder's message, on the thread that logs it. */
typedef void av_log_codec_hook(const AVCodecContext *c, int level, const char *format);

/* From here on `hook` is called for each message of a decoder, or of a parser. Any thread, any
 * number of times. */
void av_log_set_codec_hook(av_log_codec_hook *hook);

#endif
