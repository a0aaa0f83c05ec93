#include <dlfcn.h>
#include <stdio.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "libraries.h"

#define DOTTED "%u.%u.%u"
#define PARTS(v) AV_VERSION_MAJOR(v), AV_VERSION_MINOR(v), AV_VERSION_MICRO(v)

/* Returns NULL if no loaded library, nor the program itself, exports dav1d's function. */
static const char *dav1d_version(void)
{
    const char *(*version)(void) = NULL;
    *(void **)&version = dlsym(RTLD_DEFAULT, "dav1d_version");
    return version ? version() : NULL;
}

void libraries_describe(char *text, size_t size)
{
    unsigned util = avutil_version(), codec = avcodec_version(), format = avformat_version();
    int used = snprintf(text, size,
                        "FFmpeg %s (libavutil " DOTTED ", libavcodec " DOTTED
                        ", libavformat " DOTTED ")\n",
                        av_version_info(), PARTS(util), PARTS(codec), PARTS(format));
    if (used < 0 || (size_t)used >= size || !avcodec_find_decoder_by_name("libdav1d"))
        return;
    const char *dav1d = dav1d_version();
    snprintf(text + used, size - (size_t)used, "dav1d %s\n", dav1d ? dav1d : "(version unknown)");
}
