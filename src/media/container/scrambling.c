#include "scrambling.h"

enum { SYNC_BYTE = 0x47, PACKET = 188, PACKET_MOST = 204 };

/*
 * Finds the first packet and the size of packets: 188, with a time in front (Blu-ray) 192, or with
 * a checksum 204. Returns 0 if there is none.
 */
static size_t find_packets(const uint8_t *data, size_t size, size_t *first)
{
    static const size_t sizes[] = {PACKET, 192, PACKET_MOST};
    enum { IN_A_ROW = 8 };
    for (*first = 0; *first < PACKET_MOST && *first + (size_t)IN_A_ROW * PACKET_MOST < size;
         ++*first)
        for (int i = 0; i < 3; i++) {
            size_t n = 0;
            while (n < IN_A_ROW && data[*first + n * sizes[i]] == SYNC_BYTE)
                n++;
            if (n == IN_A_ROW)
                return sizes[i];
        }
    return 0;
}

bool is_scrambled_ts(const uint8_t *data, size_t size, int pid)
{
    enum { NULL_PACKETS = 0x1fff };
    size_t at, step = find_packets(data, size, &at);
    int scrambled = 0, clear = 0;
    for (; step > 0 && at + PACKET <= size; at += step) {
        const uint8_t *p = data + at;
        int of = (p[1] & 0x1f) << 8 | p[2];
        bool counts =
            p[0] == SYNC_BYTE && of != NULL_PACKETS && (pid == SCRAMBLING_ANY_PID || pid == of);
        bool is_scrambled = p[3] >> 6 != 0; /* transport_scrambling_control */
        scrambled += counts && is_scrambled;
        clear += counts && !is_scrambled;
    }
    return scrambled > clear;
}
