#include "film_options.h"

#include <string.h>

#include "shots/shots.h"

#define OPTION_STRUCT struct film_options

/* ---- The size of analysis frames ---- */

/* Returns `n` limited to 1..most. */
static int clamp_side(int n, int most)
{
    if (n > most)
        n = most;
    return n < 1 ? 1 : n;
}

/* Returns n / divisor, rounded half up, at least 1. */
static int divided(int n, int divisor)
{
    int64_t d = divisor > 1 ? divisor : 1;
    return clamp_side((int)((2 * (int64_t)n + d) / (2 * d)), n);
}

/* Scales the longer side to `side`, never enlarging, the other in proportion, rounded half up. */
static void fit_side(int width, int height, int side, int *out_width, int *out_height)
{
    int longer = width > height ? width : height;
    int64_t shorter = width > height ? height : width;
    if (side < longer) {
        side = side > 1 ? side : 1;
        shorter = (2 * shorter * side + longer) / (2 * (int64_t)longer);
        longer = side;
    }
    int least = shorter > 1 ? (int)shorter : 1;
    *out_width = width > height ? longer : least;
    *out_height = width > height ? least : longer;
}

void size_resolve(const struct size_rule *rule, int width, int height, int *out_width,
                  int *out_height)
{
    switch (rule->kind) {
    case SIZE_ROWS:
        *out_height = clamp_side(rule->side, height);
        *out_width = clamp_side(
            (int)((2 * (int64_t)width * *out_height + height) / (2 * (int64_t)height)), width);
        return;
    case SIZE_SIDE:
        fit_side(width, height, rule->side, out_width, out_height);
        if (rule->height > *out_height)
            *out_height = clamp_side(rule->height, height);
        return;
    case SIZE_EXACT:
        *out_width = clamp_side(rule->width, width);
        *out_height = clamp_side(rule->height, height);
        return;
    case SIZE_DIVIDE:
        *out_width = divided(width, rule->divisor);
        *out_height = divided(height, rule->divisor);
        return;
    case SIZE_FULL: break;
    }
    *out_width = width;
    *out_height = height;
}

/* Parses "320x180", "320", "1/4" or "full". Otherwise returns false. */
static bool parse_size(const char *text, struct size_rule *rule)
{
    enum { SIDE_MOST = 16384, DIVISOR_MOST = 1000 };
    uint64_t a, b;
    if (strcmp(text, "full") == 0) {
        *rule = (struct size_rule){.kind = SIZE_FULL};
        return true;
    }
    if (strncmp(text, "1/", 2) == 0) {
        if (!option_read_whole(text + 2, 1, DIVISOR_MOST, &a))
            return false;
        *rule = (struct size_rule){.kind = SIZE_DIVIDE, .divisor = (int)a};
        return true;
    }
    if (!option_read_digits(&text, SIDE_MOST, &a) || a == 0)
        return false;
    if (*text == '\0') {
        *rule = (struct size_rule){.kind = SIZE_SIDE, .side = (int)a};
        return true;
    }
    if (*text != 'x' || !option_read_whole(text + 1, 1, SIDE_MOST, &b))
        return false;
    *rule = (struct size_rule){.kind = SIZE_EXACT, .width = (int)a, .height = (int)b};
    return true;
}

/* Parses "auto", "off" or "W:H:X:Y" (sides from 1 to 16384). Otherwise returns false. */
static bool parse_crop(const char *text, struct crop_rule *rule)
{
    enum { SIDE_MOST = 16384 };
    uint64_t number[4];
    if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0) {
        *rule = (struct crop_rule){.kind = *text == 'a' ? CROP_AUTO : CROP_OFF};
        return true;
    }
    for (int i = 0; i < 4; i++)
        if (!option_read_digits(&text, SIDE_MOST, &number[i]) || (i < 3 && *text++ != ':'))
            return false;
    if (*text || number[0] == 0 || number[1] == 0)
        return false;
    *rule = (struct crop_rule){CROP_RECT,
                               {(int)number[2], (int)number[3], (int)number[0], (int)number[1]}};
    return true;
}

/* ---- Options ---- */

static bool set_every(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct film_options *o = options;
    (void)row;
    o->selection.kind = SELECT_EVERY;
    return option_set_whole("-n", arg, 1, (uint64_t)1 << 31, &o->selection.every, e);
}

static bool set_interval(void *options, const struct option_row *row, const char *arg,
                         struct err *e)
{
    struct film_options *o = options;
    (void)row;
    o->selection.kind = SELECT_INTERVAL;
    return option_set_time("--interval", arg, 1, &o->selection.interval_us, e);
}

static bool set_columns(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct film_options *o = options;
    (void)row;
    o->by_shot = strcmp(arg, "shots") == 0;
    if (o->by_shot) {
        o->selection.kind = SELECT_EVERY;
        return true;
    }
    o->selection.kind = SELECT_COLUMNS;
    struct err no_number = ERR_INIT;
    if (option_set_whole("--columns", arg, 1, FILM_COLUMNS_MOST, &o->selection.columns, &no_number))
        return true;
    return err_set(e, ERR_USAGE, "--columns: '%s' is neither shots nor a whole number from 1 to %d",
                   arg, FILM_COLUMNS_MOST);
}

static bool set_size(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct film_options *o = options;
    if (!parse_size(arg, &o->size))
        return err_set(e, ERR_USAGE,
                       "--%s: '%s' is not WxH, SIDE (1 to 16384), 1/D (1 to 1000) or full",
                       row->name, arg);
    return true;
}

static bool set_crop(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct film_options *o = options;
    if (!parse_crop(arg, &o->crop))
        return err_set(e, ERR_USAGE, "--%s: '%s' is not auto, off or W:H:X:Y", row->name, arg);
    return true;
}

static const char *map_word(size_t i)
{
    return i < TONE_MAPS ? light_map_name((enum tone_map)i) : NULL;
}

static const char *decoder_word(size_t i) { return decode_word((enum decode_choice)i); }

static const struct option_row rows[] = {
    {"size", "SIZE", "analysis size: WxH, longer SIDE, 1/D, full (320)", .group = OPTION_COLOURS,
     .words = OPTION_WORDS("320", "1/2", "1/4", "full"), OPTION_CUSTOM(set_size)},
    {"crop", "RULE", "crop black bars: auto (default), off, W:H:X:Y", .group = OPTION_COLOURS,
     .words = OPTION_WORDS("auto", "off"), OPTION_CUSTOM(set_crop)},
    {"tone-map", "CURVE", "HDR to SDR: bt2390 (default), hable, reinhard, clip, off",
     .group = OPTION_COLOURS, .word_at = map_word, OPTION_WORD(light.map)},
    {"hdr-peak", "NITS", "HDR peak in cd/m2 (from the film, or 1000)", .group = OPTION_COLOURS,
     OPTION_WHOLE(light.peak, LIGHT_PEAK_LEAST, LIGHT_PEAK_MOST)},
    {"light", "KIND", "average code values (code, default) or light (linear)",
     .group = OPTION_EXPERTS, .words = OPTION_WORDS("code", "linear"), OPTION_WORD(light.linear)},
    {"every", "N", "use every Nth frame (the N that gives about 1920 columns)", 'n', OPTION_FRAMES,
     OPTION_CUSTOM(set_every)},
    {"interval", "TIME", "use a frame every TIME", .group = OPTION_FRAMES,
     OPTION_CUSTOM(set_interval)},
    {"columns", "N|shots", "use N frames, evenly spaced in time, for data; or a column a shot",
     .group = OPTION_FRAMES, .words = OPTION_WORDS("shots"), OPTION_CUSTOM(set_columns)},
    {"shots", NULL, "find cuts, fades and dissolves: for pages, posters, JSON",
     .group = OPTION_FRAMES, OPTION_FLAG(shots)},
    {"shot-threshold", "N", "the least change of a cut, 1 to 255 (27)", .group = OPTION_FRAMES,
     OPTION_WHOLE(shot_threshold, 1, SHOT_THRESHOLD_MOST)},
    {"keyframes", NULL, "use key frames only: much faster, less exact", .group = OPTION_FRAMES,
     .common = TASK_FRAMES, OPTION_FLAG(selection.keyframes)},
    {"start", "TIME", "begin at TIME: seconds or [HH:]MM:SS[.mmm]", .group = OPTION_FRAMES,
     .common = TASK_FRAMES, OPTION_TIME(selection.start_us, 0)},
    {"end", "TIME", "stop before TIME", .group = OPTION_FRAMES, .common = TASK_FRAMES,
     OPTION_TIME(selection.end_us, 0)},
    {"stream", "N", "video stream N, from 0 (largest); -v lists them", .group = OPTION_FRAMES,
     OPTION_WHOLE(stream, 0, 9999)},
    {"sound-stream", "N", "stream of sound N, from 0 (the default one)", .group = OPTION_FRAMES,
     OPTION_WHOLE(sound_stream, 0, 9999)},
    {"decode", "NAME", "decode on: auto (default), cpu, nvdec", .group = OPTION_RUN,
     .word_at = decoder_word, OPTION_WORD(decode)},
    {"keep-going", NULL, "skip what the disk cannot read of a film", .group = OPTION_RUN,
     OPTION_FLAG(keep_going)},
    {"verify", NULL, "decode twice, in two ways, and compare all frames", .group = OPTION_RUN,
     OPTION_FLAG(verify)},
    {0}};

static const struct film_options defaults = {
    .selection = {.kind = SELECT_EVERY, .end_us = INT64_MAX},
    .size = {.kind = SIZE_SIDE, .side = 320},
    .stream = SOURCE_STREAM_CHOICE,
    .sound_stream = SOURCE_STREAM_CHOICE,
    .shot_threshold = SHOT_THRESHOLD_USUAL};

const struct option_table film_options = {rows, &defaults, sizeof defaults};
