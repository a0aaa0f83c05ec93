/*
 * fuzz_nal.c - what packet_scan.h reads, on any bytes: byte 0 picks the codec, byte 1 the length
 * prefix, bytes 2 and 3 are the size of the extradata. The rest is extradata and packet.
 */
#include "media/bitstream/param_sets.h"
#include "media/bitstream/packet_scan.h"
#include "fuzz.h"

/* Both have parameter sets; a packet without any is as small as its slices. */
static void separate(int length_size, const uint8_t *extradata, size_t extradata_size,
                     const uint8_t *data, size_t size)
{
    struct nal_sets sets = {0};
    struct nal_slice first = {0}, again;
    int sps = 0;
    nal_sets_scan_extradata(extradata, extradata_size, &sets);
    nal_sets_scan(length_size, data, size, &sets);
    if (!nal_sets_first_slice(&sets, length_size, data, size, &first) ||
        !nal_may_separate(&sets, length_size, data, size, &sps))
        return;
    fuzz_demand(sps >= 0 && sps < 32 && sets.sps[sps].known && first.idr);
    uint8_t *out = malloc(nal_separate_room(size));
    fuzz_demand(out != NULL);
    size_t n = nal_separate(&sets, length_size, data, size, &first, out);
    fuzz_demand(n <= nal_separate_room(size));
    if (n > 0 && nal_sets_first_slice(&sets, length_size, out, n, &again))
        fuzz_demand(again.idr && again.sps == sps);
    free(out);
}

/* The packet's first unit, truncated after each of its first bytes. */
static void separate_truncated(int length_size, const uint8_t *extradata, size_t extradata_size,
                               const uint8_t *data, size_t size)
{
    enum { UNIT_MOST = 16 };
    size_t prefix = length_size > 0 ? (size_t)length_size : 3;
    for (size_t n = 1; n <= UNIT_MOST && prefix + n <= size; n++) {
        uint8_t *packet = fuzz_copy(data + prefix - 1, n + 1);
        packet[0] = (uint8_t)n;
        separate(1, extradata, extradata_size, packet, n + 1);
        free(packet);
    }
}

/* The bytes are extradata, and the packets of two pictures. */
static void change(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    struct param_sets sets;
    param_sets_begin(&sets, kind, data, size);
    param_sets_note(&sets, length_size, data, size, 1);
    fuzz_demand(!sets.changed && !sets.sequence_changed && !param_sets_lacking(&sets, 1));
    param_sets_note(&sets, length_size, data, size / 2, 2);
    fuzz_demand(!param_sets_lacking(&sets, 1) || sets.changed);
}

static void scan(enum bitstream kind, int length_size, const uint8_t *data, size_t size)
{
    struct packet_info i;
    packet_scan(kind, length_size, data, size, &i);
    fuzz_demand(!i.sets || (i.sets >= data && i.sets + i.sets_size <= data + size));
    fuzz_demand(i.picture || (i.rap == RAP_NONE && !i.droppable));
    fuzz_demand(i.rap >= RAP_NONE && i.rap <= RAP_OPEN);
    fuzz_demand(!i.needs_before || i.leading);
    fuzz_demand(i.temporal_id >= 0 && i.temporal_id <= 6);
    fuzz_demand(i.order >= -1 && i.order < 1024);
}

static void scan_extradata(enum bitstream kind, const uint8_t *data, size_t size)
{
    int length_size = nal_length_size(kind, data, size);
    fuzz_demand(length_size >= 0 && length_size <= 4);
    nal_extradata_has_output_flag(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 4 };
    if (size < HEAD)
        return 0;
    enum bitstream kind = (enum bitstream)(data[0] % (STREAM_AV1 + 1));
    int length_size = data[1] % 5;
    size_t n = size - HEAD, first = (size_t)(data[2] | data[3] << 8) % (n + 1);
    uint8_t *extradata = fuzz_copy(data + HEAD, first),
            *packet = fuzz_copy(data + HEAD + first, n - first), *all = fuzz_copy(data + HEAD, n);
    scan(kind, length_size, packet, n - first);
    scan_extradata(kind, all, n);
    if (kind == STREAM_H264) {
        separate(length_size, extradata, first, packet, n - first);
        separate_truncated(length_size, extradata, first, packet, n - first);
    }
    nal_has_orientation(kind, extradata, first, packet, n - first);
    change(kind, length_size, packet, n - first);
    free(extradata);
    free(packet);
    free(all);
    return 0;
}
