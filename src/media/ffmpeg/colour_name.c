#include "colour_name.h"

#include <libavutil/parseutils.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
