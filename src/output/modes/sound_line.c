#include "sound_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "column_sound.h"
#include "smooth.h"
#include "time_axis.h"

enum { CHECK_EVERY = 256 /* pixels between two checks for an interrupt */ };

static bool take_levels(const struct strip *s, const int64_t *edge, size_t levels,
                        sound_line_levels *take, uint16_t *level, struct err *e)
{
    struct sound_row row = {.loudness = SOUND_SILENCE, .peak = SOUND_SILENCE};
    const struct film_sound *sound = report_sound(s->report);
    for (int x = 0; x < s->width; x++) {
        if (x % CHECK_EVERY == 0 && interrupted())
            return interrupt_error(e);
        if (sound)
            film_sound_span(sound, edge[x], edge[x + 1] > edge[x] ? edge[x + 1] : edge[x] + 1,
                            &row);
        take(&row, level + (size_t)x * levels);
    }
    return true;
}

/* Smooths each of the levels along time. */
static bool smooth_levels(const struct strip *s, const int64_t *edge, size_t levels,
                          uint16_t *level, struct err *e)
{
    size_t width = (size_t)s->width;
    struct smooth *smooth = smooth_open(edge, width, s->report->smooth_us, e);
    if (!smooth)
        return false;
    uint16_t *line = malloc(width * sizeof *line);
    for (size_t k = 0; line && k < levels; k++) {
        for (size_t x = 0; x < width; x++)
            line[x] = level[x * levels + k];
        smooth_values(smooth, line);
        for (size_t x = 0; x < width; x++)
            level[x * levels + k] = line[x];
    }
    bool ok = line || err_memory(e, width * sizeof *line);
    free(line);
    smooth_free(&smooth);
    return ok;
}

bool sound_line_fill(const struct strip *s, size_t levels, sound_line_levels *take, uint16_t *level,
                     struct err *e)
{
    const struct report *r = s->report;
    int64_t *edge = axis_pixel_edges(r->columns, r->count, film_length_end(&r->film->length),
                                     (uint64_t)s->width);
    bool ok = edge ? take_levels(s, edge, levels, take, level, e)
                   : err_memory(e, (r->count + (uint64_t)s->width) * sizeof *edge);
    if (ok && r->smooth_us > 0)
        ok = smooth_levels(s, edge, levels, level, e);
    free(edge);
    return ok;
}
