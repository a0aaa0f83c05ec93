/*
 * stream_name.h - the name under which a stream is shown, and the secrets of its URL. Messages,
 * pages and files get that name and never the URL. Any thread.
 *
 * Secret are the user and password, the query, the fragment, each component of the path that has a
 * '=', and what follows the application of RTMP (the stream key).
 */
#ifndef BARCODE_STREAM_NAME_H
#define BARCODE_STREAM_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

enum { STREAM_NAME = 128 };

/*
 * Writes a URL without its secrets: "rtsp://user:word@host/a?key=1" gives "rtsp://host/a". Of
 * components with a '=' those parameters stay that choose one of a recorder's channels. A stream
 * key becomes '*' and 4 digits of its hash. So does the rest of a URL in which a '@' behind a '/' or
 * '?' may belong to the password. Any other name is copied.
 */
void stream_name_show(const char *name, char shown[STREAM_NAME]);

/* Returns the '/', '?' or '#' for which the URL's password is read as a host or port, or 0. */
char stream_name_fault(const char *name);

/* Remembers the URL's secrets for stream_name_hide, as they are and percent-decoded. */
bool stream_name_remember(const char *name, struct err *e);

/*
 * Replaces all remembered secrets in a line by "***", unless letters or digits go on at an end of
 * one that is a letter or digit. Each URL in the line becomes its shown name. The line is cut if it
 * exceeds `size`.
 */
void stream_name_hide(char *line, size_t size);

#endif
