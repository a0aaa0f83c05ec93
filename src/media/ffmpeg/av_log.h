/* av_log.h - messages of libav: what demuxers report, and a hook for those of decoders. */
#ifndef BARCODE_FFMPEG_AV_LOG_H
#define BARCODE_FFMPEG_AV_LOG_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/* Installs the callback that receives libav's messages. Any thread, any number of times. */
void av_log_install(void);

/*
 * Counts of what demuxers log while they read a film. They skip damage without an error code: only
 * the log shows it.
 */
struct av_log_counts {
    uint64_t errors; /* messages of level error */
    /* MPEG-TS: a continuity counter jumped, so packets of some stream are missing */
    uint64_t jumps;
    /* MPEG-TS: the demuxer had to search for the next packet */
    uint64_t searches;
    uint64_t openings; /* files that were opened and whose format was found */
    int read_error;    /* errno of a file that libavformat closed and could not read; 0: none */
    /* the first file of a list (ffconcat) that could not be opened; "": none */
    char unopened[256];
    /* what a file is in, if that is not on the context's format_whitelist; NULL: no such file */
    const AVInputFormat *unlisted;
    bool many_streams;  /* the file has more than max_streams */
    int64_t wide, high; /* a size of frames with more than max_pixels; 0: none */
};

/*
 * Counts each message of a demuxer on this thread in *logged, which the caller keeps; NULL: in
 * none. The AVFormatContext does not matter: a playlist's demuxer opens contexts of its own.
 * Returns the counts that were set before, for the caller to restore. Any thread; each has its own
 * counts.
 */
struct av_log_counts *av_log_listen(struct av_log_counts *logged);

/* Adds `more` to the counts of this thread, if there are any. */
void av_log_add(const struct av_log_counts *more);

/* Receives a decoder's message, on the thread that logs it. */
typedef void av_log_codec_hook(const AVCodecContext *c, int level, const char *format);

/*
 * Sets the function that is called for each message of a decoder or parser. Any thread, any number
 * of times.
 */
void av_log_set_codec_hook(av_log_codec_hook *hook);

#endif
