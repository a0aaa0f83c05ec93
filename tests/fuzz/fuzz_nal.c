/* fuzz_nal.c - what nal.h reads, on any bytes: byte 0 picks the codec, byte 1 the length prefix, the rest is the packet. */
#include <stdlib.h>
#include <string.h>

#include "stage/absent.h"
#include "stage/nal.h"
#include "stage/nal_sets.h"
#include "fuzz.h"

/* The bytes are parameter sets and a picture at once. */
static void separate(int length_size, const uint8_t *data, size_t size)
{
    struct nal_sets sets = {0};
    struct nal_slice first = {0}, again;
    int sps = 0;
    nal_sets_scan_extradata(data, size, &sets);
    nal_sets_scan(length_size, data, size, &sets);
    if (!nal_sets_first_slice(&sets, length_size, data, size, &first) || !nal_may_separate(&sets, length_size, data, size, &sps))
        return;
    fuzz_demand(sps >= 0 && sps < 32 && sets.sps[sps].known && first.idr);
    uint8_t *out = malloc(nal_separate_room(size));
    if (!out)
        return;
    size_t n = nal_separate(&sets, length_size, data, size, &first, out);
    fuzz_demand(n <= nal_separate_room(size));
    if (n > 0 && nal_sets_first_slice(&sets, length_size, out, n, &again))
        fuzz_demand(again.idr && again.sps == sps);
    free(out);
}

/* The bytes are parameter sets, and twice a picture. */
static void miss(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    struct absent *a = NULL;
    struct nal_sets sets = {0};
    struct nal_info info;
    if (!absent_open(&a, kind, &e))
        return;
    absent_extradata(a, data, size);
    nal_scan(kind, length_size, data, size, &info);
    nal_sets_scan(length_size, data, size, &sets);
    for (int i = 0; i < 2; i++)
        absent_look(a, &sets, &(struct absent_packet){length_size, data, size, &info, i});
    absent_close(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    enum bitstream kind = (enum bitstream)(data[0] % (STREAM_AV1 + 1));
    int length_size = data[1] % 5;
    size_t n = size - 2;
    uint8_t *copy = malloc(n);      /* of the exact size: the sanitizer guards both ends */
    if (!copy)
        return 0;
    memcpy(copy, data + 2, n);
    struct nal_info i;
    nal_scan(kind, length_size, copy, n, &i);
    nal_has_hole(kind, length_size, copy, n);
    fuzz_demand(i.picture || (i.cut == CUT_NONE && !i.droppable));
    fuzz_demand(i.cut >= CUT_NONE && i.cut <= CUT_OPEN);
    fuzz_demand(!i.needs_before || i.leading);
    fuzz_demand(i.temporal_id >= 0 && i.temporal_id <= 6);
    fuzz_demand(i.order >= -1 && i.order < 1024);
    length_size = nal_length_size(kind, copy, n);
    fuzz_demand(length_size >= 0 && length_size <= 4);
    nal_extradata_hides(copy, n);
    nal_extradata_light(copy, n);
    struct nal_colours colours = {0};
    nal_extradata_colours(kind, copy, n, &colours);
    nal_scan_colours(kind, data[1] % 5, copy, n, &colours);
    fuzz_demand(kind == STREAM_H264 || !colours.unsaid.range);
    fuzz_demand(kind == STREAM_H264 || kind == STREAM_MPEG2 || !colours.unsaid.matrix);
    if (kind == STREAM_H264)
        separate(data[1] % 5, copy, n);
    miss(kind, data[1] % 5, copy, n);
    free(copy);
    return 0;
}
