#include <string.h>

#include "cli.h"
#include "cli_values.h"

bool cli_parse_steady(const char *text, struct options *o, struct err *e)
{
    uint64_t percent = STEADY_USUAL;
    if (text && !cli_read_whole(text, 0, STEADY_MOST, &percent))
        return err_set(e, ERR_USAGE, "--steady: '%s' is not a whole number from 0 to %d", text,
                       STEADY_MOST);
    o->picture.steady = (int)percent;
    return true;
}

bool cli_parse_order(const char *text, struct options *o, struct err *e)
{
    for (int i = ORDER_LIGHTNESS; i <= ORDER_SHARE; i++) {
        o->picture.order = (enum palette_order)i;
        if (strcmp(text, palette_order_name(o->picture.order)) == 0)
            return true;
    }
    return err_set(e, ERR_USAGE, "--order: '%s' is not lightness or share", text);
}

bool cli_parse_colours(const char *text, struct options *o, struct err *e)
{
    uint64_t value;
    if (!cli_read_whole(text, FILM_PALETTE_LEAST, FILM_PALETTE_MOST, &value))
        return err_set(e, ERR_USAGE, "--colours: '%s' is not a whole number from %d to %d", text,
                       FILM_PALETTE_LEAST, FILM_PALETTE_MOST);
    o->picture.colours = (int)value;
    return true;
}

bool cli_parse_tone_map(const char *text, struct options *o, struct err *e)
{
    for (int i = 0; i < TONE_MAPS; i++) {
        o->film.light.map = (enum tone_map)i;
        if (strcmp(text, light_map_name(o->film.light.map)) == 0)
            return true;
    }
    return err_set(e, ERR_USAGE, "--tone-map: '%s' is not bt2390, hable, reinhard, clip or off",
                   text);
}

bool cli_parse_hdr_peak(const char *text, struct options *o, struct err *e)
{
    uint64_t value;
    if (!cli_read_whole(text, LIGHT_PEAK_LEAST, LIGHT_PEAK_MOST, &value))
        return err_set(e, ERR_USAGE, "--hdr-peak: '%s' is not a whole number from %d to %d", text,
                       LIGHT_PEAK_LEAST, LIGHT_PEAK_MOST);
    o->film.light.peak = (int)value;
    return true;
}

bool cli_parse_light(const char *text, struct options *o, struct err *e)
{
    o->film.light.linear = strcmp(text, "linear") == 0;
    return o->film.light.linear || strcmp(text, "code") == 0 ||
           err_set(e, ERR_USAGE, "--light: '%s' is not code or linear", text);
}
