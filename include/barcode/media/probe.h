/*
 * probe.h - a look at a film before it is staged, for facts that must be known by then and take
 * reading or decoding to find. (What the film's headers say costs nothing: film.h.)
 *
 * A request says what is wanted; the source finds out what it can, and its facts say what that is
 * (source_probe). All that is wanted of a film goes into one request, so that a source may find out
 * several things in one reading.
 *
 * To add a fact: put a flag here; into the request what finding it takes (how many pictures, an
 * engine whose GPU decodes them); into the facts what was found; and the flag among the `probes` of
 * the sources that can.
 */
#ifndef BARCODE_PROBE_H
#define BARCODE_PROBE_H

#include <stdint.h>

#include "barcode/base/admission.h"
#include "barcode/engine/crop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be wanted. */
enum probe_want {
    /* how many frames are displayed and for how long: reads all of the film, decodes nothing */
    PROBE_LENGTH = 1 << 0,
    /*
     * how many key frames there are: by the container's index, or by reading all of the film; then
     * PROBE_LENGTH is found too
     */
    PROBE_KEYS = 1 << 1,
    PROBE_LIGHT = 1 << 3, /* how bright an HDR film gets, by what its first picture says */
    /*
     * black bars, in up to two dozen key frames spread over the film. Not found where nothing can
     * be sought
     */
    PROBE_BARS = 1 << 2
};

enum { PROBE_THREADS = 8 }; /* PROBE_BARS: more cores bring nothing */

struct probe_request {
    unsigned want; /* PROBE_ flags, together; 0 asks nothing and costs nothing */
    int threads;   /* PROBE_BARS: cores to decode on, 1 or more, of which PROBE_THREADS are used */
};

struct probe_facts {
    unsigned found; /* PROBE_ flags: which of what follows holds; the rest is zero */
    int64_t frames; /* PROBE_LENGTH: displayed frames, 0 or more */
    /* PROBE_LENGTH: from the first frame's start to the last one's end, 0 without a frame */
    int64_t duration_us;
    int64_t keys;            /* PROBE_KEYS: key frames, 0 or more */
    struct crop crop;        /* PROBE_BARS */
    int peak;                /* PROBE_LIGHT: as film.peak */
    int sampled, conclusive; /* PROBE_BARS: frames sampled; of them bright enough for edges */
};

#ifdef __cplusplus
}
#endif
#endif
