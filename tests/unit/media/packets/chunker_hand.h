/*
 * chunker_hand.h - for tests of the chunker: catches the chunks made of pictures that a test pushes
 * by hand.
 */
#ifndef BARCODE_TESTS_CHUNKER_HAND_H
#define BARCODE_TESTS_CHUNKER_HAND_H

#include "../fuzz/chunker_trial.h"

struct caught {
    struct chunk *chunk[64];
    size_t chunks;
    bool refuse;
};

static inline bool catch_run(void *user, struct chunk *chunk, struct err *e)
{
    struct caught *c = user;
    if (c->refuse) {
        chunk_free(&chunk);
        return err_set(e, ERR_FAILED, "no more");
    }
    assert_true(c->chunks < 64);
    c->chunk[c->chunks++] = chunk;
    return true;
}

static inline void drop_runs(struct caught *c)
{
    while (c->chunks > 0)
        chunk_free(&c->chunk[--c->chunks]);
}

static inline struct chunker *hand_chunker(enum bitstream stream, uint64_t every, struct caught *c)
{
    struct chunker_config config = {
        .selection = {.every = every, .end_us = INT64_MAX},
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .traits = codec_traits(stream),
        .emit = c ? catch_run : NULL,
        .user = c};
    struct chunker *g = chunker_open(&config, NULL);
    assert_non_null(g);
    return g;
}

#endif
