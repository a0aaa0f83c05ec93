#include "json_sound.h"

static json_t *tenths(int value) { return json_real(value / 10.0); }

json_t *json_sound_value(const struct report *r)
{
    const struct film_sound *s = report_sound(r);
    if (!s)
        return json_null();
    return json_pack("{si so so so si si sI so sI so so so}", "stream", s->stream, "codec",
                     writer_json_bytes(s->codec), "decoder", writer_json_bytes(s->decoder),
                     "layout", writer_json_bytes(s->layout), "rate", s->rate, "channels",
                     s->channels, "gaps", (json_int_t)s->gaps, "gap_seconds",
                     writer_json_us(s->gap_us), "errors", (json_int_t)s->errors, "loudness",
                     tenths(s->loudness), "range", tenths(s->range), "peak", tenths(s->peak));
}

int json_put_sound(json_t *value, const struct column_sound *sound, uint64_t i)
{
    struct sound_row row;
    if (!column_sound_at(sound, i, &row))
        return 0;
    return json_object_set_new(value, "loudness", tenths(row.loudness)) |
           json_object_set_new(value, "peak", tenths(row.peak)) |
           json_object_set_new(value, "centroid",
                               row.centroid > 0 ? json_integer(row.centroid) : json_null());
}
