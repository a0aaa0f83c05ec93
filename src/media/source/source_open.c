/* source_open.c - opens a film. It is a file of its own so that a test can link another source. */
#include "media/source.h"

struct source *source_open_stream(const char *path, const struct film_parts *parts, int stream,
                                  int sound, bool keep_going, struct err *e)
{
    return source_film_open(path, parts, stream, sound, keep_going, e);
}

struct source *source_open(const char *path, struct err *e)
{
    return source_open_stream(path, NULL, SOURCE_STREAM_CHOICE, SOURCE_SOUND_NONE, false, e);
}
