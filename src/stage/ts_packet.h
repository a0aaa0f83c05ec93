/*
 * ts_packet.h - where packets begin in bytes of an MPEG-TS (ITU-T H.222.0, 2.4.3.2), of which a file may be cut at any byte. Over untrusted
 * bytes.
 */
#ifndef BARCODE_SRC_TS_PACKET_H
#define BARCODE_SRC_TS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TS_PACKET_BYTES = 188,
    TS_PACKET_CHECKED = 204,      /* with a checksum behind it: no two packets are further apart */
    TS_PACKET_LENGTHS = 3,
    TS_PACKET_SYNC = 0x47         /* its first byte                                              */
};

/* Bytes from packet to packet: alone, each after a time, each before a checksum. */
extern const size_t ts_packet_length[TS_PACKET_LENGTHS];

/* True if a packet begins at bytes[at], and enough others before it, `length` bytes apart, that it is no accident. */
bool ts_packet_is(const uint8_t *bytes, size_t at, size_t length);

/* The length of the packets of which the first one begins at bytes[*from], in bytes[0..size); 0: none begins near enough to the front. */
size_t ts_packet_find(const uint8_t *bytes, size_t size, size_t *from);

#ifdef __cplusplus
}
#endif
#endif
