/* decode_counts.h - the counts and times of decoding a film. */
#ifndef BARCODE_DECODE_COUNTS_H
#define BARCODE_DECODE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/engine/frame.h"

/* Seconds. `wall` is the film's; the others are sums over threads and may exceed it. */
struct decode_times {
    double wall, start_up, demux, decode, shrink, cluster, write;
    /* waiting until other films finish a step that only one film does at a time; not in `wall` */
    double waiting;
    /* Parts of the wall, one after another, between start_up and write. */
    double engine_begin;  /* the engine takes its memory */
    double pass;          /* from the first packet read to the last worker's end */
    double engine_finish; /* clustering the remaining frames after the last one is decoded */
    /* The share of `pass`, 0..1, in which an average worker had a chunk; 0: no worker. */
    double device_busy, software_busy;
};

struct decode_counts {
    uint64_t packets;   /* video packets read */
    uint64_t displayed; /* frames of the film that were covered */
    uint64_t sent;      /* packets sent to a decoder */
    uint64_t decoded;   /* frames that decoders returned */
    uint64_t hardware;  /* those from a device */
    uint64_t fallbacks; /* device workers that had to decode in software */
    uint64_t chunks, skipped_chunks, redone_chunks;
    uint64_t flushes; /* of device workers' decoders; one of H.264 has to be opened again then */
    uint64_t reused;  /* pooled decoders that device workers reused */
    /* IDR pictures sent to a decoder in place of a flush; in no other count */
    uint64_t idr_splices;
    uint64_t decode_errors; /* packets that a decoder refused */
    uint64_t lost;          /* selected pictures that never decoded */
    uint64_t damaged;       /* selected pictures that decoded with damage */
    uint64_t hidden; /* packets read that are never displayed, by the bitstream or the container */
    uint64_t unreadable; /* packets that should contain a picture and do not */
    uint64_t dropped;    /*
                          * frames missing in gaps, estimated from the times around the gaps; also
                          * in `displayed`
                          */
    /* --keyframes: known key frames in the selected part of the film */
    uint64_t keys;
    /* key frames that are damaged or unreadable: others are used instead */
    uint64_t bad_keys;
    uint64_t bytes_read; /* of the file, 0: unknown */
    uint64_t lead_in;    /* pictures before the first one that can be decoded */
    int64_t first_us;    /* time of the first frame; -1: none */
    int64_t last_us;     /* time of the last frame; -1: none */
    int64_t end_us;      /* when its display ends, if to_end; else -1 */
    bool to_end;         /* the film was read to its end without an error */
    bool read_failed;    /* the container could not be read to its end */
    char lack[400];      /* what is missing of a film in several files; "": nothing */
    /* --keep-going: bytes of the film that could not be read, and were skipped */
    uint64_t bytes_unread;
    bool contradicted; /* the pass stopped early: repeat it sequentially */
    bool damage_found; /* the pass stopped early: repeat it with exact_damage */
    bool keys_again;   /* key frames turned out damaged: repeat the pass without them */
    bool cache_failed; /* frames of the cache are damaged: repeat the pass from the film */
    bool on_device;    /* workers on a device were started, even if they decoded no chunk */
    bool sequential;   /* all or the rest of the film went through one decoder */
};

/* Returns true if the result is invalid: decode the film again (source_decode). */
static inline bool decode_must_restart(const struct decode_counts *c)
{
    return c->contradicted || c->damage_found || c->keys_again || c->cache_failed;
}

/*
 * Returns true if this selected frame exists already. With `take` (only after a call that returned
 * true), the callee must put the frame into the engine. One thread.
 */
typedef bool frame_have(void *user, const struct frame_tag *tag, bool take);

#endif
