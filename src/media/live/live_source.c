#include "live_source.h"

/* The first that fits opens a name. live_stream fits every name. */
static const struct live_source_kind *const kinds[] = {&live_folder, &live_stream};

struct live_source *live_source_open(const struct live_options *o, struct err *e)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->fits(o->name))
            return kinds[i]->open(o, e);
    err_set(e, ERR_USAGE, "'%s' is nothing that --live can read", o->name);
    return NULL;
}

bool live_source_run(struct live_source *s, const struct live_sink *sink, struct err *e)
{
    return s->kind->run(s, sink, e);
}

void live_source_stop(struct live_source *s) { s->kind->stop(s); }

void live_source_close(struct live_source **s)
{
    if (*s)
        (*s)->kind->close(s);
}
