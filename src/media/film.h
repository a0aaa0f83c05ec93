/* film.h - what is known about the input before it is decoded. Facts only, no libav types. */
#ifndef BARCODE_FILM_H
#define BARCODE_FILM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/film_id.h"
#include "barcode/engine/frame.h"

/*
 * Times are the player's, in microseconds: 0 is the start of the file's earliest stream. So a video
 * that begins ten seconds after its sound has start_us = 10 s.
 */

/* What the duration was taken from, in order of trust. */
enum length_source {
    LENGTH_UNKNOWN,
    LENGTH_ESTIMATE,  /* the bit rate, the last timestamps in the file, or another stream */
    LENGTH_TAG,       /* a text tag of the stream */
    LENGTH_CONTAINER, /* the header's one duration for several streams */
    LENGTH_TRACK,     /* the header's duration of the video stream */
    LENGTH_INDEX,     /* a table of all frames, or the frames after the index's last key frame */
    LENGTH_PACKETS    /* all packets of the film were read */
};

struct film_length {
    int64_t start_us;    /* when the first frame is displayed, 0 or more */
    int64_t duration_us; /* from there until the last frame's display ends; -1: unknown */
    int64_t frames;      /* displayed frames, an estimate unless counted; -1: unknown */
    enum length_source source;
};

/* Returns when the display of the last frame ends; INT64_MAX if unknown. */
static inline int64_t film_length_end(const struct film_length *l)
{
    return l->duration_us > 0 ? l->start_us + l->duration_us : INT64_MAX;
}

/* Returns how far a film's last frame may be from its end: 2 s or 1 %. Sound outlasts pictures. */
static inline int64_t film_length_slack(int64_t end_us)
{
    return end_us / 100 > 2000000 ? end_us / 100 : 2000000;
}

/* Returns true if the film is at most a minute long: checking its end to a frame costs little. */
static inline bool film_length_is_short(const struct film_length *l)
{
    return l->duration_us <= 60000000;
}

/* Returns the source's name in JSON: "packets", ...; NULL for LENGTH_UNKNOWN. Static. */
static inline const char *film_length_source_name(enum length_source source)
{
    static const char *const name[] = {0,       "estimate", "tag",    "container",
                                       "track", "index",    "packets"};
    return name[source];
}

/* What a container crops from the decoded frames, in samples. */
struct film_crop {
    int left, top, right, bottom;
};

struct film {
    char *path;                     /* as the user gave it; owned by the source that opened it */
    const struct film_parts *parts; /* its files; NULL: `path` alone. Borrowed */
    struct read_faults *faults; /* what could not be read of them; borrowed; NULL: not recorded */
    char *list;                 /* all parts as an ffconcat (open.c); NULL: no parts; owned too */
    char title[256];            /* from the container; any bytes; "": none */
    char container[48];         /* "matroska,webm" */
    bool frames_have_times;     /* in such a container each frame has a time of its own */
    bool lists_key_frames;      /* such a container lists its key frames */
    char codec[32];             /* "h264" */
    char pixel_format[32];      /* "yuv420p10le" */
    bool alpha;                 /* the pixel format has transparency */
    bool alpha_unused;          /* it only seems to: the container's samples have none */
    int stream;                 /* index in the container: the video, or of sound alone the sound */
    int video, videos; /* its number among the video streams (--stream), and how many there are */
    int sound_stream;  /* index of the chosen stream of sound; -1: none, or none was asked for */
    int sound;         /* its number among the streams of sound (--sound-stream); -1 likewise */
    int width, height; /* displayed samples: crop, orientation applied; 0: sound alone */
    int coded_width, coded_height;
    struct film_crop
        crop;        /* from the coded size; it leaves some samples, complete ones of chroma */
    int pixel_bytes; /* of a decoded frame, rounded up; 0: unknown */
    /* the aspect ratio of a displayed sample; 1, 1 if unknown; 0, 0 if there is none */
    int sample_num, sample_den;
    struct orientation orientation;
    /* Decided before decoding, for frames without tags of their own: src/media/README.md. */
    enum matrix matrix;      /* never UNSPECIFIED */
    enum range range;        /* never UNSPECIFIED */
    bool matrix_guessed;     /* the film has no matrix, or the one in unknown_matrix */
    char unknown_matrix[32]; /* a named matrix that is read as `matrix`; "" otherwise */
    bool range_guessed;
    bool range_by_format; /* neither tags nor codec have it: grey is full, Y'CbCr limited */
    enum transfer transfer;
    enum primaries primaries; /* BT.709 unless tagged as wider; PQ and HLG: BT.2020 */
    /* cd/m2: the brightest pixel (MaxCLL), else the mastering display's peak; 0: unknown */
    int peak;
    int dolby_vision; /* its profile, if only Dolby Vision decoders know its colours; else 0 */
    int64_t rate_num, rate_den; /* frames a second, 0/1 when unknown */
    struct film_length length;  /* as known so far: reading the film corrects it */
    char unopened[256]; /* a part of a list of files that could not be opened; "": none so far */
    char library[64];   /* what decoded it: "libavcodec 59.37.100, ..." */
};

/* Return the size of a frame of the coded size when it is cropped, before orientation. */
static inline int film_frame_width(const struct film *f)
{
    return f->coded_width - f->crop.left - f->crop.right;
}
static inline int film_frame_height(const struct film *f)
{
    return f->coded_height - f->crop.top - f->crop.bottom;
}

/* Returns the nominal frame time in microseconds, > 0: by the rate, or 40 ms if that is unknown. */
static inline int64_t film_frame_us(const struct film *f)
{
    int64_t us = f->rate_num > 0 ? (1000000 * f->rate_den + f->rate_num / 2) / f->rate_num : 40000;
    return us > 0 ? us : 1;
}

#endif
