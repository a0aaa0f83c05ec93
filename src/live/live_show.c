#include "live_show.h"

#include <unistd.h>

#include "live_names.h"
#include "live_time.h"

/* Columns of a day, or as many as have room in 64 MiB. */
static size_t capacity_of(const struct options *o)
{
    const int64_t room = 64 << 20;
    int64_t columns = LIVE_DAY_US / o->live_us, most = room / (3 * (int64_t)o->height);
    return (size_t)(columns < most ? columns : most > 1 ? most : 1);
}

bool live_show_open(struct live_show *s, const struct options *o, struct err *e)
{
    char label[LIVE_NAME];
    struct err later = ERR_INIT;
    *s = (struct live_show){.feed = NULL};
    if (!o->serve.given && o->live_format == LIVE_FORMAT_NONE)
        return true;
    s->feed = live_feed_open(capacity_of(o), o->height, o->live_us, e);
    if (!s->feed)
        return false;
    live_label(o->input[0], label);
    if (o->live_format != LIVE_FORMAT_NONE)
        s->output = live_output_open(STDOUT_FILENO, o->live_format, s->feed, e);
    if (o->serve.given && e->code == ERR_NONE)
        s->server = serve_open(&o->serve, s->feed, o->title ? o->title : label, e);
    if (e->code != ERR_NONE)
        live_show_close(s, &later);
    return e->code == ERR_NONE;
}

bool live_show_is_over(const struct live_show *s)
{
    return s->output && live_output_is_over(s->output);
}

bool live_show_close(struct live_show *s, struct err *e)
{
    if (s->feed)
        live_feed_close(s->feed);
    bool good = live_output_close(&s->output, e);
    serve_close(&s->server);
    live_feed_free(&s->feed);
    return good;
}
