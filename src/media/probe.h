/*
 * probe.h - finds facts about a film that must be known before it is decoded, and take reading or
 * decoding to find. (What the film's headers contain costs nothing: film.h.)
 *
 * A request names the facts; the source finds those that it can, and sets `found` (source_probe).
 * All facts that are needed of a film go into one request, so that a source may find several in one
 * reading.
 *
 * To add a fact: add a flag here; to the request, what finding it takes; to the facts, the result;
 * and the flag to the `probes` of the sources that can find it.
 */
#ifndef BARCODE_PROBE_H
#define BARCODE_PROBE_H

#include <stdint.h>

#include "base/admission.h"
#include "barcode/engine/crop.h"
#include "film_length.h"

/* The facts. */
enum probe_want {
    /* how many frames are displayed and for how long: reads the complete film, decodes nothing */
    PROBE_LENGTH = 1 << 0,
    /*
     * how many key frames there are: by the container's index, or by reading the complete film;
     * then PROBE_LENGTH is found too
     */
    PROBE_KEYS = 1 << 1,
    /* the same, if the container's index of key frames makes it cheap; else nothing */
    PROBE_END = 1 << 4,
    PROBE_LIGHT = 1 << 3, /* the peak brightness of an HDR film, from the metadata of its first
                             frame */
    /*
     * black bars, in up to two dozen key frames spread over the film. Not found if the film is not
     * seekable
     */
    PROBE_BARS = 1 << 2
};

enum { PROBE_THREADS = 8 }; /* PROBE_BARS: more threads gain nothing */

struct probe_request {
    unsigned want; /* PROBE_ flags, combined; 0 asks nothing and costs nothing */
    int threads;   /* PROBE_BARS: cores to decode on, 1 or more; at most PROBE_THREADS are used */
};

struct probe_facts {
    unsigned found; /* PROBE_ flags: which of the fields below are set; the others are zero */
    /* PROBE_LENGTH; a duration of 0: no frame. By an index, the frames are an estimate */
    struct film_length length;
    int64_t keys;            /* PROBE_KEYS: key frames, 0 or more */
    struct crop crop;        /* PROBE_BARS */
    int peak;                /* PROBE_LIGHT: as film.peak */
    int sampled, conclusive; /* PROBE_BARS: frames sampled; how many are bright enough to show edges
                              */
};

#endif
