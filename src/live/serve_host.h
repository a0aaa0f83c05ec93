/*
 * serve_host.h - by which names a server may be called. A page of another site whose name suddenly
 * means 127.0.0.1 (DNS rebinding) calls it by that site's name, and is refused. Any thread.
 */
#ifndef BARCODE_LIVE_SERVE_HOST_H
#define BARCODE_LIVE_SERVE_HOST_H

#include <stdbool.h>

/*
 * Returns true if the header "Host" names the served address `served` (without brackets),
 * localhost or a loopback address, with any port. If `served` is a wildcard (0.0.0.0, ::), any
 * address is right, and this machine's name, with and without ".local". `host` may be NULL.
 */
bool serve_host_is_ours(const char *host, const char *served);

/* Returns true if the header "Origin" is NULL, or of the page that "Host" names. */
bool serve_origin_is_ours(const char *origin, const char *host);

#endif
