#include <string.h>

#include "cli.h"
#include "plan/outputs.h"
#include "plan/outputs_names.h"

bool cli_parse_live(const char *text, struct options *o, struct err *e)
{
    const int64_t least_us = 40000, usual_us = 10000000, day_us = INT64_C(86400000000);
    if (!text)
        o->live.column_us = usual_us;
    else if (!cli_parse_time(text, &o->live.column_us))
        return err_set(e, ERR_USAGE, "--live: '%s' is no time, such as 10 or 0.2", text);
    return (o->live.column_us >= least_us && o->live.column_us <= day_us &&
            day_us % o->live.column_us == 0) ||
           err_set(
               e, ERR_USAGE,
               "--live=%s: a day has no whole number of such columns; give 0.04, 0.1, 1, 10, 60 "
               "or the like",
               text ? text : "");
}

bool cli_parse_day(const char *text, struct options *o, struct err *e)
{
    const char *digit = "0123456789";
    o->live.day = (struct live_day_rule){.local = strcmp(text, "utc") != 0};
    if (!o->live.day.local || strcmp(text, "local") == 0)
        return true;
    bool clock = strlen(text) == 5 && strspn(text, digit) == 2 && text[2] == ':' &&
                 strspn(text + 3, digit) == 2;
    int hours = clock ? (text[0] - '0') * 10 + text[1] - '0' : 24,
        minutes = clock ? (text[3] - '0') * 10 + text[4] - '0' : 0;
    o->live.day.minutes = hours * 60 + minutes;
    return (hours < 24 && minutes < 60) ||
           err_set(e, ERR_USAGE, "--day: '%s' is not utc, local or a time of day such as 12:00",
                   text);
}

/* Returns an option that was given and does nothing for a stream; NULL: none. */
static const char *option_of_films(const struct options *o)
{
    const struct selection *s = &o->film.selection;
    for (size_t i = 0; i < o->outputs.extras; i++)
        if (strcmp(o->outputs.extra[i].writer->name, "bench") != 0)
            return writer_option(o->outputs.extra[i].writer);
    return s->kind == SELECT_COLUMNS    ? "columns"
           : s->kind == SELECT_INTERVAL ? "interval"
           : s->every > 0               ? "every"
           : s->start_us > 0            ? "start"
           : s->end_us != INT64_MAX     ? "end"
           : o->outputs.dump            ? "dump"
           : o->outputs.report          ? "report"
           : o->film.verify             ? "verify"
           : o->inputs.sequence         ? "sequence"
           : o->inputs.join             ? "join"
           : o->inputs.recursive        ? "recursive"
           : o->outputs.update          ? "update"
                                        : NULL;
}

/* What a day, whose end is to come, cannot have. */
static bool check_day(const struct options *o, struct err *e)
{
    const char *name = option_of_films(o);
    if (name)
        return err_set(e, ERR_USAGE, "--live: --%s is for films", name);
    for (size_t i = 0; i < o->picture.strips; i++)
        if (o->picture.strip[i]->needs & STRIP_SOUND)
            return err_set(e, ERR_USAGE, "--live: a stream's sound is not read: no -m %s",
                           o->picture.strip[i]->name);
    if (o->outputs.path && !outputs_names_folder(o->outputs.path) &&
        writer_by_ending(o->outputs.path))
        return err_set(e, ERR_USAGE, "--live: -o names the folder of the day's files, not a file");
    if (o->picture.steady > 0 || o->picture.smooth_us > 0)
        return err_set(e, ERR_USAGE,
                       "--live: --steady and --smooth need all columns of a film, also later ones");
    if (o->picture.shape != SHAPE_STRIP || o->poster.wanted)
        return err_set(e, ERR_USAGE, "--live: the picture of a day is a strip");
    return true;
}

bool cli_check_live(const struct options *o, struct err *e)
{
    const bool to_stdout = o->outputs.path && outputs_is_stdout(o->outputs.path),
               shown = o->live.serve.given || o->live.format != LIVE_FORMAT_NONE;
    if (o->live.column_us == 0)
        return !shown || err_set(e, ERR_USAGE, "--serve and --live-format need --live");
    if (!o->outputs.path && !o->live.serve.given)
        return err_set(e, ERR_USAGE, "--live: give the folder of the day's files by -o DIR");
    if (to_stdout != (o->live.format != LIVE_FORMAT_NONE))
        return err_set(e, ERR_USAGE, "--live: -o - and --live-format rgb or jsonl belong together");
    if (shown && o->inputs.count > 1)
        return err_set(e, ERR_USAGE, "--serve and --live-format show one stream");
    return check_day(o, e);
}
