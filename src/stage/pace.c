#include "pace.h"

#include <math.h>

#include "barcode/engines.h"

/* Of what NVDEC does, software must do at least this part for its own. */
#define WORTH_HAVING 5

/* About the pictures of a run (gather.h). */
#define PRIOR_PICTURES 64.0

double pace_software_prior(double pixels)
{
    return ENGINES_DECODE_RATE / pixels;
}

/*
 * One H200, 14 sessions, 16 cores (tests/bench/RESULTS.md, "Runs for software"): 1080p H.264 550 pictures a second and session, 1080p HEVC
 * Main10 1,340, VP9 430; 2160p HEVC Main10 250, which is the lower one of HEVC's two in pixels. Other chips have other rates, but
 * of a like order, and the first run that is done begins to correct this.
 */
double pace_nvdec_prior(enum bitstream stream, double pixels)
{
    double rate = stream == STREAM_HEVC ? 2.1e9 : stream == STREAM_H264 ? 1.1e9 : 0.9e9;
    return rate / pixels;
}

double pace_rate(const struct pace *p)
{
    return (PRIOR_PICTURES + p->pictures) / (PRIOR_PICTURES / p->prior + p->seconds);
}

double pace_unread(const struct pace_reading *r)
{
    if (r->ended)
        return 0;
    bool counted = r->total > 0 && r->read > 0;
    double all = counted ? r->total : r->total_bytes;
    double now = counted ? r->read : r->read_bytes, first = counted ? r->first : r->first_bytes;
    if (all <= 0 || now <= first)
        return HUGE_VAL;
    return now < all ? r->queued * (all - now) / (now - first) : 0;
}

bool pace_worth_it(const struct pace *soft, const struct pace *nvdec, const struct pace_left *left, double pictures)
{
    /*
     * A guess may be wrong by that much, software decoders slow each other down once all cores are busy, and NVDEC gets quicker in its first
     * second. Half a run at the film's end is all that this costs.
     */
    const double margin = 1.5;
    if (nvdec->sessions <= 0)
        return true;
    double software = pace_rate(soft), hardware = pace_rate(nvdec);
    /* Software decoders take cores and memory from the threads that feed NVDEC: HEVC gains nothing by them, at 2160p it loses up to 8 %. */
    if (WORTH_HAVING * software * soft->sessions < hardware * nvdec->sessions)
        return false;
    int idle = nvdec->sessions - nvdec->busy;
    /* They take what there is at once; and where they wait for the reader, more decoders bring nothing. */
    if (left->runs <= idle && hardware >= software)
        return false;
    double rest = left->queued + left->unread + nvdec->begun;
    double all = rest / (hardware * nvdec->sessions), one = pictures / hardware;
    return margin * pictures / software < (all > one ? all : one);
}
