/*
 * stage.h - what staging a film counts and how long its parts take.
 */
#ifndef BARCODE_DECODE_COUNTS_H
#define BARCODE_DECODE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/engine/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds. `wall` is of the whole film; the others are summed over threads and so may exceed it. */
struct decode_times {
    double wall, start_up, demux, decode, shrink, cluster, write;
    /* until other films of the run had done what one at a time does: no part of the wall */
    double waiting;
    /* Parts of the wall, one after another, between start_up and write. */
    double engine_begin;  /* the engine takes its memory */
    double pass;          /* from the first packet read to the last worker's end */
    double engine_finish; /* what is not clustered yet when the last frame is staged */
    /* The share of `pass`, 0..1, in which a worker of the kind had a run to decode, on average; 0:
     * there were none. */
    double device_busy, software_busy;
};

struct decode_counts {
    uint64_t packets;   /* video packets read */
    uint64_t displayed; /* frames of the film that were covered */
    uint64_t sent;      /* packets given to a decoder */
    uint64_t decoded;   /* pictures that came out of one */
    uint64_t hardware;  /* of them from NVDEC */
    uint64_t fallbacks; /* NVDEC workers that had to decode in software */
    uint64_t chunks, skipped_chunks, redone_chunks;
    uint64_t flushes; /* of NVDEC workers' decoders, of which H.264's has to be made anew then */
    uint64_t reused;  /* decoders that NVDEC workers had from films before */
    /* pictures that were sent to one in place of a flush, and are in no other count */
    uint64_t idr_splices;
    uint64_t decode_errors; /* packets that a decoder refused */
    uint64_t lost;          /* selected pictures that never decoded */
    uint64_t damaged;       /* selected pictures that decoded with damage */
    uint64_t hidden; /* packets read that show nothing, by their own account or the container's */
    uint64_t unreadable; /* pictures of the container whose bytes hold no picture */
    uint64_t dropped;    /* frames in gaps, by the times around them; in `displayed` too */
    /*
     * --keyframes: key frames in the part of the film that was asked for, as far as they are known
     */
    uint64_t keys;
    /* key frames that could not be used, damaged or unreadable: others serve in their place */
    uint64_t bad_keys;
    uint64_t bytes_read; /* of the file, 0: unknown */
    uint64_t lead_in;    /* pictures before the first one that can be decoded */
    int64_t last_us;     /* time of the last frame that was seen, -1: none */
    bool read_failed;    /* the container could not be read to its end */
    bool io_failed;      /* read_failed, because reading the file failed */
    bool contradicted;   /* staging stopped half-way: must be done anew, sequentially */
    bool damage_found;   /* staging stopped half-way: must be done anew, carefully */
    bool keys_again;     /* key frames turned out damaged: must be done anew, without them */
    bool cache_failed;   /* frames of the cache were damaged: must be done anew, from the film */
    bool on_device;      /* workers on a device took part, whichever chunks they got */
    bool sequential;     /* all or the rest of the film went through one decoder */
};

/* What was staged is no good: the caller throws it away and stages the film again, as source_decode
 * says. */
static inline bool decode_must_restart(const struct decode_counts *c)
{
    return c->contradicted || c->damage_found || c->keys_again || c->cache_failed;
}

/* True when this selected frame is staged already. With `take` (only after a yes) the callee has to
 * put it. One thread. */
typedef bool frame_have(void *user, const struct frame_tag *tag, bool take);

#ifdef __cplusplus
}
#endif
#endif
