/*
 * chunker_hand.h - for tests of the chunker: catches the runs made of pictures that a test pushes
 * by hand.
 */
#ifndef BARCODE_TESTS_CHUNKER_HAND_H
#define BARCODE_TESTS_CHUNKER_HAND_H

#include "../fuzz/chunker_trial.h"

struct caught {
    struct run *run[64];
    size_t runs;
    bool refuse;
};

static inline bool catch_run(void *user, struct run *run, struct err *e)
{
    struct caught *c = user;
    if (c->refuse) {
        run_free(&run);
        return err_set(e, ERR_FAILED, "no more");
    }
    assert_true(c->runs < 64);
    c->run[c->runs++] = run;
    return true;
}

static inline void drop_runs(struct caught *c)
{
    while (c->runs > 0)
        run_free(&c->run[--c->runs]);
}

static inline struct chunker *hand_chunker(enum bitstream stream, uint64_t every, struct caught *c)
{
    struct chunker_config config = {.selection = {.every = every, .end_us = INT64_MAX},
                                    .frame_us = 40000,
                                    .traits = run_traits(stream),
                                    .emit = c ? catch_run : NULL,
                                    .user = c};
    struct chunker *g = chunker_open(&config, NULL);
    assert_non_null(g);
    return g;
}

#endif
