/*
 * scrambling.h - finds out whether an MPEG-TS is encrypted. libavformat ignores
 * transport_scrambling_control (ISO/IEC 13818-1, 2.4.3.3) and finds no picture. Pure functions over
 * untrusted bytes.
 */
#ifndef BARCODE_CONTAINER_SCRAMBLING_H
#define BARCODE_CONTAINER_SCRAMBLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRAMBLING_BYTES = 1 << 20, SCRAMBLING_ANY_PID = -1 };

/*
 * Returns true for the beginning of an MPEG-TS, of up to SCRAMBLING_BYTES, if most packets of this
 * PID are scrambled.
 */
bool is_scrambled_ts(const uint8_t *data, size_t size, int pid);

#endif
