/*
 * key_block.h - where a picture's bytes lie in a Matroska file whose cues name a cluster and a time (RFC 9559, 5.1.3 and 10), without reading
 * what lies between. Over untrusted bytes; any thread.
 */
#ifndef BARCODE_SRC_KEY_BLOCK_H
#define BARCODE_SRC_KEY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct key_block {
    int64_t at;       /* of the first byte behind the block's own head */
    size_t size;
    uint64_t read;    /* bytes of the file that this took               */
};

/* The number of the track to which the block whose head begins at `at` belongs. False: there is none. */
bool key_block_track(int fd, int64_t at, uint64_t *track);

/*
 * The track's block of time `time`, in the file's own units, in the cluster at `cluster`. False: it is not there, holds several
 * pictures, or the cluster is not what it should be; `read` is told all the same.
 */
bool key_block_find(int fd, int64_t cluster, uint64_t track, int64_t time, struct key_block *block);

#ifdef __cplusplus
}
#endif
#endif
