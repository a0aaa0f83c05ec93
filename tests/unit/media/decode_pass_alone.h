/*
 * decode_pass_alone.h - for tests: a decode pass without a film to read, whose only worker is the
 * test itself.
 */
#ifndef BARCODE_TESTS_DECODE_PASS_ALONE_H
#define BARCODE_TESTS_DECODE_PASS_ALONE_H

#include <stdlib.h>

#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/gop/chunker.h"
#include "media/schedule/decode_pass.h"

static struct decode_pass s;

/* Backends that decode nothing. */
static const struct decoder_backend cores = {.name = "cores", .place = ON_CORES},
                                    gpu = {.name = "GPU", .place = ON_DEVICE};

/* A test's set-up: nothing was read yet, and no worker decodes. */
static inline int pass_begin(void **state)
{
    (void)state;
    static const struct film film;
    static const struct decode_job job;
    static struct demux reader;
    reader.traits = codec_traits(STREAM_H264);
    decode_pass_open(&s, &film, reader.stream, reader.traits, &job);
    s.file_bytes = 1000;
    return decode_pass_open_queue(&s, NULL) ? 0 : -1;
}

/* A test's teardown. */
static inline int pass_end(void **state)
{
    (void)state;
    decode_pass_close(&s);
    return 0;
}

/* Of one picture. */
static inline struct chunk *new_chunk(size_t bytes)
{
    struct chunk *r = calloc(1, sizeof *r);
    assert_non_null(r);
    struct picture p = {.serial = 0};
    assert_true(chunk_append(r, &p, NULL));
    r->bytes = bytes;
    return r;
}

#endif
