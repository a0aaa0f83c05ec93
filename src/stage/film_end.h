/*
 * film_end.h - films that end before they are over, though their demuxers come to the end of the file in silence.
 *
 * Some containers have an end of their own (a trailer, a last chunk, a footer), some say in their head how many pictures there
 * are, and in some a picture that breaks off is thrown away. None of it is looked at by libavformat. What a writer may leave
 * out proves nothing.
 */
#ifndef BARCODE_FILM_END_H
#define BARCODE_FILM_END_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

struct film_end {
    bool jumped;             /* not every packet came                                        */
    uint64_t packets;        /* of the stream, so far                                        */
    int64_t last_pts, step;  /* the last one's; from one to the next, 0: unknown, or none the same */
    int64_t at, behind;      /* where the last one begins in the file and where it ends; -1: unknown */
};

void film_end_open(struct film_end *x);

/* The stream's next packet. Marks it CORRUPT if the file breaks off in it, where the demuxer does not. */
void film_end_packet(struct film_end *x, const AVFormatContext *format, AVPacket *packet);

/* The file was read to its end: true if the film should go on there. The file's position stays. */
bool film_end_is_torn(const struct film_end *x, const AVFormatContext *format, const AVStream *stream);

/* Likewise true if the last picture may lack bytes then, and no CORRUPT tells. */
bool film_end_may_hurt(const struct film_end *x, const AVFormatContext *format);

/*
 * True if what stands where the stream's length should is a writer's stopgap that never came back: -1 in an IVF, which libavformat takes
 * for a big number, or 65,535 (NVIDIA's Video Codec SDK), an hour in what FFmpeg sends as RealMedia, 2^30 pictures in what it sends as
 * AVI.
 */
bool film_end_is_stopgap(const AVFormatContext *format, const AVStream *stream);

/*
 * MPEG-TS's demuxer looks for the next packet after the last one, and comes to the end of the file in silence. Zeros there
 * are a hole, or padding. A packet that breaks off is a hole if it is the film's; of another stream it is one if pictures are missing, for
 * recorders stop anywhere: *doubt. Other containers: nothing is done.
 */
void film_end_of_ts(AVFormatContext *format, const AVStream *stream, bool *hole, bool *doubt);

/*
 * av_read_frame failed: true if the film is over, and only what stands behind its end was looked at. GIF's demuxer goes on there, if the
 * whole film was read once when it was opened. The file's position stays.
 */
bool film_end_is_over(const struct film_end *x, const AVFormatContext *format);

/* True if an error of av_read_frame's only means the end of the file. The file's position stays. */
bool film_end_is_end(const AVFormatContext *format, int code);

#endif
