/*
 * staging_alone.h - for tests: a staging without a film to read, and without sessions but the test itself.
 */
#ifndef BARCODE_TESTS_STAGING_ALONE_H
#define BARCODE_TESTS_STAGING_ALONE_H

#include <stdlib.h>

#include "media/bitstream/codec_traits.h"
#include "media/bitstream/coded_picture.h"
#include "media/bitstream/packet_scan.h"
#include "media/container/demux.h"
#include "media/gop/chunk.h"
#include "media/schedule/decode_pass.h"

static struct staging s;

/* A test's set-up: nothing was read yet, and nobody decodes. */
static inline int staging_begin(void **state)
{
    (void)state;
    static const struct film film;
    static const struct stage_job job;
    static struct demux reader;
    reader.traits = run_traits(STREAM_H264);
    staging_open(&s, &film, reader.stream, reader.traits, &job);
    s.file_bytes = 1000;
    return staging_open_queue(&s, NULL) ? 0 : -1;
}

/* A test's teardown. */
static inline int staging_end(void **state)
{
    (void)state;
    staging_close(&s);
    return 0;
}

/* Of one picture. */
static inline struct run *new_run(size_t bytes)
{
    struct run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    struct picture p = {.serial = 0};
    assert_true(run_append(r, &p, NULL));
    r->bytes = bytes;
    return r;
}

#endif
