/*
 * nvdec_check.h - no decoder is trusted unseen: the beginning of one run of each film and GPU is decoded there and by libavcodec's
 * own decoder, and what the engine would shrink of both is compared, sample by sample.
 *
 * The GPU's pictures are staged meanwhile, for a difference is rare: then staging stops, and is done anew in software. So the
 * check costs a short film nothing but the time that its software decoder needs beyond the GPU's, and a long one nothing.
 */
#ifndef BARCODE_SRC_NVDEC_CHECK_H
#define BARCODE_SRC_NVDEC_CHECK_H

#include "nvdec.h"

enum check_verdict {
    CHECK_NONE,          /* no run could be compared so far                    */
    CHECK_SAME,
    CHECK_DIFFERENT
};

/* What the NVDEC sessions of one staging on one GPU share. */
struct nvdec_check;

/* `s` and `n` are lent until nvdec_check_close. NULL: memory. */
struct nvdec_check *nvdec_check_open(const struct staging *s, const struct nvdec *n, struct err *e);

/*
 * A session's thread is about to feed `run`, planned, to its decoder. True: this is the run to compare, it is being decoded in
 * software from now on, and the session owes its pictures and nvdec_check_end. One run at a time, and none once there is a
 * verdict; never one with a sign of damage, on which no two decoders agree. The run's first pictures, wanted or not, are
 * handed out from then on (ACTION_OUTPUT), so that the software decoder is soon through.
 */
bool nvdec_check_begin(struct nvdec_check *c, struct run *run);

/* A picture of that run came out of the session's `decoder`, with its final tags. False: memory, the GPU. */
bool nvdec_check_take(struct nvdec_check *c, const AVCodecContext *decoder, const AVFrame *frame, struct err *e);

/*
 * The run is over; `whole`: nothing was wrong with it. Waits for the software decoder, compares, and tells a difference under
 * -v. Returns the verdict; CHECK_NONE leaves the next run to be compared.
 */
enum check_verdict nvdec_check_end(struct nvdec_check *c, bool whole);

/* Once every session has ended. */
enum check_verdict nvdec_check_verdict(const struct nvdec_check *c);

/* Sets *c to NULL, which is fine too. No run is being compared. */
void nvdec_check_close(struct nvdec_check **c);

/*
 * The largest difference between two samples of the same place; UINT_MAX when the two views are not of the same shape, depth
 * or colours. Both on the host. Exposed for its test.
 */
unsigned nvdec_check_difference(const struct frame_view *a, const struct frame_view *b);

#endif
