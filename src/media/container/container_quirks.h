/* container_quirks.h - the only place where a demuxer's name decides something. */
#ifndef BARCODE_CONTAINER_CONTAINER_QUIRKS_H
#define BARCODE_CONTAINER_CONTAINER_QUIRKS_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/* Which entries a container's index has (keyframe_index.c). */
enum key_index_kind {
    KEY_INDEX_NONE,    /* none, or none that can be relied on: the film is read from end to end */
    KEY_INDEX_SAMPLES, /* all packets of the film */
    KEY_INDEX_CUES     /* key frames; the demuxer reads them when it seeks for the first time */
};

struct container_quirks {
    const char *demuxer; /* its name, as a pattern of fnmatch */

    bool is_text;         /* not a film: probing accepts any text */
    bool is_image;        /* not a film: a single image */
    bool is_image_pipe;   /* images one after another, without a container (refusal.c) */
    bool is_playlist;     /* names other files: its own bytes are not the film's (allowed.c) */
    bool lists_durations; /* of the files that it names: their sum is the film's duration */
    bool names_sources;   /* not a film: the network, scripts or files of another name are read */

    bool unframed;            /* a parser finds the pictures in a stream of bytes */
    bool frames_have_times;   /* each frame has a time of its own */
    bool has_complete_header; /* the header describes all streams, and a packet is a frame */
    bool marks_by_index;      /* key frames are marked in the index alone */
    bool stores_places;       /* no presentation times, but places in decoding order (timeline.h) */
    bool times_mpeg2;         /* MPEG-2 has presentation times nevertheless */
    bool places_from_0;       /* the first place is where the first frame is displayed */
    bool clock_from_0;        /* stored time 0 is the start, whatever its streams begin with */
    int end_error;            /* av_read_frame may return this code, too, at the end of the file */

    enum key_index_kind index; /* the one that a complete file has */
    bool index_is_mp4;         /* has all packets, even missing ones, and seeks by display time */
    bool seeks_to_any_byte;    /* finds a packet after any byte */
    bool joins_bytes;          /* files one behind the other are a film (open.c) */
    bool is_matroska;          /* its header has what libavformat does not export (matroska.h) */
    bool is_program_stream;    /* MPEG-PS: its packets have no counter that would show gaps */
    bool seeks_by_bisection;   /* needs no index to seek a time without reading up to it */

    /* Placeholder durations, never replaced (0: none); a real one's maximum. Stream time base */
    int64_t unset_duration, duration_max, unset_frames;
    bool shortens_duration; /* libavformat shortens that of a truncated file */
    bool longest_duration;  /* one length for all streams, maybe that of the sound */
    bool duration_from_0;   /* the same, counted from 0 and not from the first frame */
};

/* Returns the quirks of an opened container, all false or 0 if it has none. Static; never NULL. */
const struct container_quirks *container_quirks(const AVFormatContext *format);

/* Returns the quirks of a demuxer, likewise. */
const struct container_quirks *container_quirks_of(const AVInputFormat *demuxer);

#endif
