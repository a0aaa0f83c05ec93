/*
 * link.h - messages between two processes: a pair of sockets that keep the bounds of messages
 * (SOCK_SEQPACKET). A message is plain bytes and at most one descriptor.
 *
 * Neither end believes the other: the receiver checks the size and every field of a message.
 */
#ifndef BARCODE_LINK_H
#define BARCODE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "barcode/base/err.h"

enum { LINK_BYTES = 64 << 10 }; /* the longest message */

/* Opens both ends of a link. Returns false with ERR_FAILED. Any thread. */
bool link_open(int end[2], struct err *e);

/*
 * Sends a message of up to LINK_BYTES, and a duplicate of descriptor `fd` unless it is -1. Waits
 * while the link is full or the kernel takes no more, as progress of the film (watch.h). Returns
 * false with errno if the other end is closed. Any thread.
 */
bool link_send(int link, const void *message, size_t size, int fd);

/* As link_send, but does not wait. Returns false with EAGAIN if the link is full. */
bool link_try_send(int link, const void *message, size_t size, int fd);

enum { LINK_CLOSED = 0, LINK_EMPTY = -1, LINK_BROKEN = -2 };

/*
 * Receives a message without waiting. Returns its size, 1 or more, and sets `*fd` to the descriptor
 * that came with it, which the caller closes, or to -1, also if this process can open no more.
 * Returns LINK_CLOSED if the other end is closed or sent an empty message, LINK_EMPTY if no message
 * is there, and LINK_BROKEN if the message is longer than `room` or has several descriptors. Any
 * thread.
 */
ssize_t link_receive(int link, void *message, size_t room, int *fd);

/* As link_receive, but waits for a message, which counts as progress of the film. */
ssize_t link_wait(int link, void *message, size_t room, int *fd);

#endif
