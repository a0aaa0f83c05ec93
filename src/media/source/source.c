#include "media/source.h"

bool source_can(const struct source *s, unsigned abilities)
{
    return (s->ops->can & ~s->lacks & abilities) == abilities;
}

bool source_decode(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                   struct decode_times *times, struct err *e)
{
    return s->ops->decode_frames(s, job, counts, times, e);
}

void source_progress(struct source *s, struct decode_progress *p) { s->ops->progress(s, p); }

bool source_sound(struct source *s, struct sound_job *sound, struct err *e)
{
    return s->ops->read_sound(s, sound, e);
}

bool source_probe(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e)
{
    struct probe_request able = *request;
    able.want &= s->ops->probes;
    *facts = (struct probe_facts){.found = 0};
    if (able.want == 0)
        return true;
    if (!s->ops->probe(s, &able, facts, e)) {
        *facts = (struct probe_facts){.found = 0};
        return false;
    }
    if (facts->found & PROBE_LIGHT)
        s->film.peak = facts->peak;
    if (facts->found & PROBE_LENGTH)
        s->film.length = facts->length;
    return true;
}

void source_close(struct source **s)
{
    if (*s)
        (*s)->ops->close(s);
}
