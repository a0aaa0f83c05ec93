#include "ts_packet.h"

enum { IN_A_ROW = 4 };

const size_t ts_packet_length[TS_PACKET_LENGTHS] = {TS_PACKET_BYTES, 192, TS_PACKET_CHECKED};

bool ts_packet_is(const uint8_t *bytes, size_t at, size_t length)
{
    size_t seen = 0;
    while (seen < IN_A_ROW && at >= seen * length && bytes[at - seen * length] == TS_PACKET_SYNC)
        seen++;
    return seen == IN_A_ROW;
}

size_t ts_packet_find(const uint8_t *bytes, size_t size, size_t *from)
{
    for (*from = 0; *from < TS_PACKET_CHECKED; ++*from)
        for (size_t k = 0; k < TS_PACKET_LENGTHS; k++) {
            size_t last = *from + (IN_A_ROW - 1) * ts_packet_length[k];
            if (last < size && ts_packet_is(bytes, last, ts_packet_length[k]))
                return ts_packet_length[k];
        }
    return 0;
}
