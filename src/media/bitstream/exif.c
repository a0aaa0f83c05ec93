#include "exif.h"

#include <string.h>
#include <time.h>

enum {
    TAG_ORIENTATION = 0x0112,
    TAG_EXIF = 0x8769, /* the offset of the second list of tags */
    TAG_TIME = 0x9003,
    TAG_OFFSET = 0x9011,
    TAG_FRACTION = 0x9291,
    TYPE_TEXT = 2,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    ENTRY_BYTES = 12
};

/* A TIFF file, which EXIF is. */
struct tiff {
    const uint8_t *data;
    size_t size;
    bool little; /* endian */
};

static uint32_t number_at(const struct tiff *t, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)t->data[at + (size_t)i] << 8 * (t->little ? i : bytes - 1 - i);
    return value;
}

/* Returns the place of the tag in the list at `list`, or 0 if there is none. */
static size_t find_tag(const struct tiff *t, size_t list, uint32_t tag)
{
    if (list == 0 || t->size < 2 || list > t->size - 2)
        return 0;
    size_t count = number_at(t, list, 2), room = (t->size - list - 2) / ENTRY_BYTES;
    for (size_t i = 0; i < count && i < room; i++) {
        size_t entry = list + 2 + i * ENTRY_BYTES;
        if (number_at(t, entry, 2) == tag)
            return entry;
    }
    return 0;
}

/* Copies the text of a tag. Returns false if there is none. */
static bool text_of(const struct tiff *t, size_t list, uint32_t tag, char out[32])
{
    size_t entry = find_tag(t, list, tag);
    if (entry == 0 || number_at(t, entry + 2, 2) != TYPE_TEXT)
        return false;
    size_t length = number_at(t, entry + 4, 4);
    size_t at = length > 4 ? number_at(t, entry + 8, 4) : entry + 8;
    if (length > 31)
        length = 31;
    if (at > t->size || length > t->size - at)
        return false;
    memcpy(out, t->data + at, length);
    out[length] = '\0';
    return true;
}

/* Returns the microseconds of digits after a point. */
static int64_t fraction_us(const char *digits)
{
    int64_t us = 0;
    for (int64_t unit = 100000; *digits >= '0' && *digits <= '9' && unit > 0; digits++, unit /= 10)
        us += unit * (*digits - '0');
    return us;
}

/* Returns two digits as a number; -1 if they are none. */
static int two_digits(const char *text)
{
    bool digits = text[0] >= '0' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9';
    return digits ? 10 * (text[0] - '0') + text[1] - '0' : -1;
}

/* Reads "+01:00". */
static void read_offset(const char text[32], struct exif *x)
{
    if (strlen(text) != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
        return;
    int hours = two_digits(text + 1), minutes = two_digits(text + 4);
    if (hours < 0 || hours > 14 || minutes < 0 || minutes >= 60)
        return;
    x->has_offset = true;
    x->offset_us = INT64_C(60000000) * (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

static void read_time(const struct tiff *t, size_t list, struct exif *x)
{
    char text[32];
    struct tm tm = {.tm_sec = 0};
    if (!text_of(t, list, TAG_TIME, text) || !strptime(text, "%Y:%m:%d %H:%M:%S", &tm) ||
        tm.tm_year < 70)
        return;
    x->has_time = true;
    x->time_us = (int64_t)timegm(&tm) * 1000000;
    if (text_of(t, list, TAG_FRACTION, text))
        x->time_us += fraction_us(text);
    if (text_of(t, list, TAG_OFFSET, text))
        read_offset(text, x);
}

/* Returns the orientation of EXIF's values 1 to 8. */
static struct orientation orientation_of(uint32_t value)
{
    static const struct orientation table[] = {{0, false}, {0, false}, {0, true},
                                               {2, false}, {2, true},  {3, true},
                                               {1, false}, {1, true},  {3, false}};
    return table[value <= 8 ? value : 0];
}

static void read_tiff(const struct tiff *t, struct exif *x)
{
    size_t first = number_at(t, 4, 4), turned = find_tag(t, first, TAG_ORIENTATION),
           more = find_tag(t, first, TAG_EXIF);
    if (turned > 0 && number_at(t, turned + 2, 2) == TYPE_SHORT)
        x->orientation = orientation_of(number_at(t, turned + 8, 2));
    if (more > 0 && number_at(t, more + 2, 2) == TYPE_LONG)
        read_time(t, number_at(t, more + 8, 4), x);
}

struct exif exif_read(const uint8_t *data, size_t size)
{
    static const char *const mark[] = {"Exif", "eXIf", "EXIF"}; /* of JPEG, PNG and WebP */
    enum { GAP_MOST = 10 }; /* zeros, a length, or the mark of JPEG between the mark and TIFF */
    struct exif x = {.has_time = false};
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++) {
        const uint8_t *at = size > 0 ? memmem(data, size, mark[i], 4) : NULL;
        size_t left = at ? size - (size_t)(at + 4 - data) : 0;
        for (size_t gap = 0; gap <= GAP_MOST && left >= gap + 8; gap++) {
            struct tiff t = {.data = at + 4 + gap, .size = left - gap};
            t.little = memcmp(t.data, "II*\0", 4) == 0;
            if (!t.little && memcmp(t.data, "MM\0*", 4) != 0)
                continue;
            read_tiff(&t, &x);
            return x;
        }
    }
    return x;
}
