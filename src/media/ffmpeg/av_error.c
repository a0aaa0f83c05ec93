#include "av_error.h"

#include <libavutil/error.h>
#include <stdio.h>

bool av_out_of_memory(const char *path, struct err *e)
{
    return err_set(e, ERR_MEMORY, "out of memory while '%s' was being decoded", path);
}

const char *av_error_text(int code, char text[128])
{
    if (av_strerror(code, text, 128) < 0)
        snprintf(text, 128, "libav error %d", code);
    return text;
}
