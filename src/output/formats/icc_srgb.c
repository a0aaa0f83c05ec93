#include "images.h"

#include <stddef.h>
#include <string.h>

#include "barcode/engine/colour.h"

/* The places of the parts in the profile. The three channels share one curve. */
enum {
    HEADER_SIZE = 128,
    TAGS = 9,
    DESCRIPTION = HEADER_SIZE + 4 + 12 * TAGS,
    DESCRIPTION_SIZE = 96,
    COPYRIGHT = DESCRIPTION + DESCRIPTION_SIZE,
    COPYRIGHT_SIZE = 12,
    WHITE = COPYRIGHT + COPYRIGHT_SIZE,
    RED = WHITE + 20,
    GREEN = RED + 20,
    BLUE = GREEN + 20,
    CURVE = BLUE + 20,
    CURVE_SIZE = 12 + 2 * 256
};
_Static_assert(CURVE + CURVE_SIZE == ICC_SRGB_SIZE, "the size of the profile");

static void put(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put_word(uint8_t *to, const char word[4]) { memcpy(to, word, 4); }

/* Writes a colour in 1/65536, relative to D50. */
static void put_xyz(uint8_t *to, uint32_t x, uint32_t y, uint32_t z)
{
    put_word(to, "XYZ ");
    put(to + 8, x);
    put(to + 12, y);
    put(to + 16, z);
}

static void put_header(uint8_t *to)
{
    put(to, ICC_SRGB_SIZE);
    put(to + 8, 0x02400000); /* version */
    put_word(to + 12, "mntr");
    put_word(to + 16, "RGB ");
    put_word(to + 20, "XYZ ");
    put(to + 24, 2000u << 16 | 1); /* the profile's date: 1 January 2000 */
    put(to + 28, 1u << 16);
    put_word(to + 36, "acsp");
    put(to + 68, 0xf6d6); /* D50 */
    put(to + 72, 0x10000);
    put(to + 76, 0xd32d);
}

static void put_tags(uint8_t *to)
{
    static const struct {
        char word[5];
        uint32_t at, size;
    } tag[TAGS] = {{"desc", DESCRIPTION, DESCRIPTION_SIZE - 1},
                   {"cprt", COPYRIGHT, COPYRIGHT_SIZE},
                   {"wtpt", WHITE, 20},
                   {"rXYZ", RED, 20},
                   {"gXYZ", GREEN, 20},
                   {"bXYZ", BLUE, 20},
                   {"rTRC", CURVE, CURVE_SIZE},
                   {"gTRC", CURVE, CURVE_SIZE},
                   {"bTRC", CURVE, CURVE_SIZE}};
    put(to, TAGS);
    for (size_t i = 0; i < TAGS; i++) {
        put_word(to + 4 + 12 * i, tag[i].word);
        put(to + 8 + 12 * i, tag[i].at);
        put(to + 12 + 12 * i, tag[i].size);
    }
}

void icc_srgb_write(uint8_t profile[ICC_SRGB_SIZE])
{
    memset(profile, 0, ICC_SRGB_SIZE);
    put_header(profile);
    put_tags(profile + HEADER_SIZE);
    put_word(profile + DESCRIPTION, "desc");
    put(profile + DESCRIPTION + 8, sizeof "sRGB");
    memcpy(profile + DESCRIPTION + 12, "sRGB", sizeof "sRGB");
    put_word(profile + COPYRIGHT, "text");
    memcpy(profile + COPYRIGHT + 8, "CC0", sizeof "CC0");
    put_xyz(profile + WHITE, 0xf6d6, 0x10000, 0xd32d);
    /* IEC 61966-2-1's primaries, adapted from D65 to D50; their sum is exactly D50 */
    put_xyz(profile + RED, 0x6fa0, 0x38f2, 0x038f);
    put_xyz(profile + GREEN, 0x6296, 0xb789, 0x18da);
    put_xyz(profile + BLUE, 0x24a0, 0x0f85, 0xb6c4);
    put_word(profile + CURVE, "curv");
    put(profile + CURVE + 8, 256);
    for (size_t i = 0; i < 256; i++) {
        profile[CURVE + 12 + 2 * i] = (uint8_t)(srgb_linear[i] >> 8);
        profile[CURVE + 13 + 2 * i] = (uint8_t)srgb_linear[i];
    }
}
