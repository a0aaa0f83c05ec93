/*
 * film_length.h - how long a film is, and what says so.
 *
 * Times are the player's, in microseconds: 0 is the start of the file's earliest stream. So a video
 * that begins ten seconds after its sound has start_us = 10 s.
 */
#ifndef BARCODE_FILM_LENGTH_H
#define BARCODE_FILM_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

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

/*
 * Returns how far the last frame of a complete film may be from its end at `end_us`: 2 s or 1 %,
 * whichever is more. Sound often outlasts the picture.
 */
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

#endif
