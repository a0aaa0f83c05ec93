#include "labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *paint_text_file_name(const char *path)
{
    if (!path)
        return "";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns true for noncharacters (U+FDD0..U+FDEF and the last two of every plane). XML 1.0 forbids
 * some of them, and cairo refuses a title that contains one. */
static bool is_noncharacter(const unsigned char *p)
{
    if (p[0] == 0xef)
        return (p[1] == 0xb7 && p[2] >= 0x90 && p[2] <= 0xaf) || (p[1] == 0xbf && p[2] >= 0xbe);
    return p[0] >= 0xf0 && (p[1] & 0x0f) == 0x0f && p[2] == 0xbf && p[3] >= 0xbe;
}

/* Returns true if a line of text must not contain the character. p is a well-formed sequence. */
static bool is_unfit(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0) || is_noncharacter(p);
}

void paint_text_utf8(const char *bytes, bool line, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t used = 0;
    while (*p) {
        size_t length = text_sequence((const char *)p);
        const char *put = (const char *)p;
        size_t bytes_put = length;
        if (length == 0) {
            put = "\xef\xbf\xbd";
            bytes_put = 3;
            length = 1;
        } else if (line && is_unfit(p)) {
            put = "?";
            bytes_put = 1;
        }
        if (used + bytes_put >= size)
            break;
        memcpy(out + used, put, bytes_put);
        used += bytes_put;
        p += length;
    }
    out[used] = 0;
}

void paint_text_hex(const uint8_t rgb[3], char text[PAINT_HEX])
{
    snprintf(text, PAINT_HEX, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

void paint_text_seconds(int64_t us, char *out, size_t size)
{
    char text[40];
    int length = snprintf(text, sizeof text, "%" PRId64 ".%06d", us / 1000000, (int)(us % 1000000));
    while (text[length - 1] == '0')
        text[--length] = 0;
    if (text[length - 1] == '.')
        text[--length] = 0;
    snprintf(out, size, "%s", text);
}

static const char *ordinal_end(uint64_t n)
{
    if (n % 100 >= 11 && n % 100 <= 13)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void text_limits(const struct selection *s, char *out, size_t size)
{
    /* A selection by columns always ends at the film's end, which is not mentioned. */
    bool ends = s->end_us != INT64_MAX && s->kind != SELECT_COLUMNS;
    char from[40], to[40];
    paint_text_seconds(s->start_us, from, sizeof from);
    paint_text_seconds(s->end_us, to, sizeof to);
    out[0] = 0;
    if (s->start_us > 0 && ends)
        snprintf(out, size, ", from %s s to %s s", from, to);
    else if (s->start_us > 0)
        snprintf(out, size, ", from %s s on", from);
    else if (ends)
        snprintf(out, size, ", up to %s s", to);
}

void paint_text_selection(const struct selection *s, char *out, size_t size)
{
    char limits[140], seconds[40];
    text_limits(s, limits, sizeof limits);
    if (s->keyframes)
        snprintf(limits + strlen(limits), sizeof limits - strlen(limits), ", key frames");
    paint_text_seconds(s->interval_us, seconds, sizeof seconds);
    if (s->kind == SELECT_INTERVAL)
        snprintf(out, size, "a frame every %s s%s", seconds, limits);
    else if (s->kind == SELECT_COLUMNS)
        snprintf(out, size, "%" PRIu64 " frame%s, evenly spaced%s", s->columns,
                 s->columns == 1 ? "" : "s", limits);
    else if (s->every <= 1)
        snprintf(out, size, "every frame%s", limits);
    else
        snprintf(out, size, "every %" PRIu64 "%s frame%s", s->every, ordinal_end(s->every), limits);
}

void paint_text_crop(const struct report *r, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < r->analysis.crop.count && used < size; i++) {
        char text[CROP_TEXT];
        crop_shown_text(&r->analysis.crop, i, r->film->orientation, text);
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? " " : "", text);
    }
}

void paint_text_titles(struct strips strips, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < strips.count && used < size; i++) {
        const char *link = i == 0 ? "" : i + 1 < strips.count ? ", " : " and ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", link, strips.kind[i]->title);
    }
}
