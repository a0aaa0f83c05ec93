#include "column_sound.h"

#include <stdlib.h>

#include "time_axis.h"

const struct film_sound *report_sound(const struct report *r)
{
    return r->media.sound && r->media.sound->stream >= 0 ? r->media.sound : NULL;
}

bool column_sound_open(struct column_sound *c, const struct report *r, struct err *e)
{
    *c = (struct column_sound){.sound = report_sound(r)};
    if (!c->sound || r->count == 0)
        return true;
    c->edge = axis_edges(r->columns, r->count, film_length_end(&r->film->length));
    return c->edge || err_memory(e, (r->count + 1) * sizeof *c->edge);
}

bool column_sound_at(const struct column_sound *c, uint64_t i, struct sound_row *row)
{
    if (c->sound)
        film_sound_span(c->sound, c->edge[i], c->edge[i + 1], row);
    return c->sound;
}

void column_sound_close(struct column_sound *c)
{
    free(c->edge);
    *c = (struct column_sound){.sound = NULL};
}
