/*
 * live_packets.h - the packets between the thread that reads a stream and the one that decodes it.
 * Reading goes on while a frame is decoded and analysed, so nothing is lost in the network's
 * buffers. A decoder that falls behind gives up: the waiting packets are dropped up to a key frame.
 */
#ifndef BARCODE_LIVE_LIVE_PACKETS_H
#define BARCODE_LIVE_LIVE_PACKETS_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct live_packets;

struct live_packets *live_packets_open(struct err *e);

/*
 * Appends a packet that arrived at `arrived_ns`, and takes its reference. Never waits. Returns
 * false if out of memory.
 */
bool live_packets_put(struct live_packets *p, AVPacket *packet, int64_t arrived_ns, struct err *e);

/*
 * Waits up to a second for a packet and moves it to `to`. Sets *waiting to the number of packets
 * behind it. Returns false if there is none.
 */
bool live_packets_take(struct live_packets *p, AVPacket *to, int64_t *arrived_ns, int *waiting);

/* Says that no packet follows; true for live_packets_over once the last one was taken. */
void live_packets_end(struct live_packets *p);
bool live_packets_over(struct live_packets *p);

/* Returns how many packets were dropped. */
uint64_t live_packets_dropped(struct live_packets *p);

/* Frees *p and sets it to NULL. Does nothing if *p is NULL. */
void live_packets_free(struct live_packets **p);

#endif
