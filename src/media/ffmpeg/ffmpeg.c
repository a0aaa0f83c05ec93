#include "ffmpeg.h"

#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/base64.h>
#include <libavutil/crc.h>
#include <libavutil/parseutils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool parse_hex(const char *digits, uint8_t rgb[3])
{
    size_t length = strlen(digits);
    if (strspn(digits, "0123456789abcdefABCDEF") != length || (length != 3 && length != 6))
        return false;
    unsigned long value = strtoul(digits, NULL, 16);
    for (int i = 0; i < 3; i++)
        rgb[i] = length == 6 ? (uint8_t)(value >> (16 - 8 * i))
                             : (uint8_t)((value >> (8 - 4 * i) & 15) * 17);
    return true;
}

/* Compares names of which the second is libavutil's, which writes "Gray". */
static bool is_name(const char *text, const char *name)
{
    const char *grey = strcasestr(text, "grey");
    size_t at = grey ? (size_t)(grey - text) : 0;
    if (!grey || strlen(name) < at + 4)
        return strcasecmp(text, name) == 0;
    return strncasecmp(text, name, at) == 0 && strncasecmp(name + at, "gray", 4) == 0 &&
           strcasecmp(grey + 4, name + at + 4) == 0;
}

bool colour_name_parse(const char *text, uint8_t rgb[3])
{
    const uint8_t *value;
    const char *name;
    if (*text == '#')
        return parse_hex(text + 1, rgb);
    for (int i = 0; (name = av_get_known_color_name(i, &value)); i++) {
        if (is_name(text, name)) {
            memcpy(rgb, value, 3);
            return true;
        }
    }
    return parse_hex(text, rgb);
}

size_t base64_encode(const void *data, size_t size, char *out)
{
    av_base64_encode(out, (int)AV_BASE64_SIZE(size), data, (int)size);
    return AV_BASE64_SIZE(size) - 1;
}

uint32_t crc32_add(uint32_t crc, const uint8_t *bytes, size_t size)
{
    return av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), crc, bytes, size);
}
