/* serve_socket.h - the socket on which a server listens. Any thread. */
#ifndef BARCODE_LIVE_SERVE_SOCKET_H
#define BARCODE_LIVE_SERVE_SOCKET_H

#include "barcode/cli/options.h"

/*
 * Returns a socket that listens on the address, without blocking, and its *port, which the kernel
 * chose for 0. Returns -1 with ERR_FAILED.
 */
int serve_socket_listen(const struct serve_address *a, int *port, struct err *e);

#endif
