/*
 * pace.h - should a software session take a run where NVDEC sessions decode the same film?
 *
 * Only if it will be done with that run before the NVDEC sessions would be done with everything that is left, this run included: they would
 * wait for it at the end. Films of the same GPU that wait for this one are left, too. Work is counted in pictures. How fast a session of either
 * kind is, is guessed at first from the size of a picture, and measured from its first picture on. Pure functions.
 */
#ifndef BARCODE_SRC_PACE_H
#define BARCODE_SRC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "nal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One kind of session, as far as it is known. */
struct pace {
    int sessions;
    int busy;                 /* sessions that are decoding a run                                  */
    double pictures, seconds; /* that were decoded, of runs under way too; seconds summed over the sessions */
    double begun;             /* pictures that the runs under way have yet to come to              */
    double prior;             /* pictures a second and session that were expected, > 0             */
};

/* What no session has begun. */
struct pace_left {
    int runs;                 /* that wait to be taken                                             */
    double queued;            /* their pictures                                                    */
    double unread;            /* pictures still to come, of this film and of those that wait for it; HUGE_VAL: unknown */
};

/* How much of a film was read. */
struct pace_reading {
    bool ended;
    double total, read, first;       /* pictures: of the part of the film that is asked for (0: unknown), read so far, read
                                        when the first run was there                              */
    double total_bytes, read_bytes, first_bytes;      /* the same in bytes of the file           */
    double queued;                   /* pictures of all runs so far                               */
};

/* Pictures a second and core, for pictures of that many pixels (> 0). */
double pace_software_prior(double pixels);

/* Pictures a second and NVDEC session. */
double pace_nvdec_prior(enum bitstream stream, double pixels);

/* Pictures a second and session: the prior counts like one run that is done. */
double pace_rate(const struct pace *p);

/* pace_left.unread: the share of the film that became runs so far goes on. */
double pace_unread(const struct pace_reading *r);

/* True if a software session should take a run of `pictures` now; `soft` has at least one session. */
bool pace_worth_it(const struct pace *soft, const struct pace *nvdec, const struct pace_left *left, double pictures);

#ifdef __cplusplus
}
#endif
#endif
