#include "live_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void put_colour(const struct live_column *c, const uint8_t rgb[3], char text[10])
{
    if (c->missing)
        snprintf(text, 10, "null");
    else
        snprintf(text, 10, "\"#%02x%02x%02x\"", rgb[0], rgb[1], rgb[2]);
}

size_t live_text_json(const struct live_column *c, char text[LIVE_JSON])
{
    char time[TEXT_UTC], average[10], dominant[10];
    text_utc(c->time_us, true, time);
    put_colour(c, c->average, average);
    put_colour(c, c->dominant, dominant);
    return (size_t)snprintf(text, LIVE_JSON,
                            "{\"number\":%" PRId64 ",\"time\":\"%s\",\"missing\":%s,"
                            "\"average\":%s,\"dominant\":%s}",
                            c->number, time, c->missing ? "true" : "false", average, dominant);
}

static void put_number(uint64_t value, int bytes, uint8_t *to)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

void live_text_record(const struct live_column *c, const uint8_t *rgb, int height, uint8_t *to)
{
    put_number((uint64_t)c->number, 8, to);
    put_number((uint64_t)c->time_us, 8, to + 8);
    to[16] = (uint8_t)((c->missing ? 1 : 0) | (c->open ? 2 : 0));
    memcpy(to + 17, c->average, 3);
    memcpy(to + 20, c->dominant, 3);
    to[23] = 0;
    memcpy(to + LIVE_RECORD, rgb, (size_t)height * 3);
}

void live_text_records_head(const struct live_feed *f, uint8_t to[LIVE_RECORDS_HEAD])
{
    const uint64_t height = (uint64_t)live_feed_height(f);
    memcpy(to, "barcode", 8);
    put_number(LIVE_RECORD + 3 * height, 4, to + 8);
    put_number(height, 4, to + 12);
    put_number(1, 4, to + 16);
    put_number(0, 4, to + 20);
    put_number((uint64_t)live_feed_period_us(f), 8, to + 24);
}
