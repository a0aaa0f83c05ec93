#include "live_day.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live_time.h"
#include "barcode/base/path.h"
#include "barcode/output/writer.h"

enum { WIDTH_MOST = 8640 }; /* of a day's picture without --width */

static struct tm date_of(time_t time, bool local)
{
    struct tm tm;
    if (local)
        localtime_r(&time, &tm);
    else
        gmtime_r(&time, &tm);
    return tm;
}

/*
 * Returns when the day begins that is `days` after the date of `tm`, which gets that date. A time
 * of day that summer time leaves out is as mktime understands it.
 */
static time_t begin_of(struct tm *tm, int days, const struct live_day_rule *rule)
{
    tm->tm_mday += days;
    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    tm->tm_isdst = 0;
    timegm(tm); /* a valid date */
    struct tm begin = {.tm_year = tm->tm_year,
                       .tm_mon = tm->tm_mon,
                       .tm_mday = tm->tm_mday,
                       .tm_min = rule->minutes,
                       .tm_isdst = -1};
    return rule->local ? mktime(&begin) : timegm(&begin);
}

/* Returns the first column that begins at `time` or later. */
static int64_t first_from(time_t time, int64_t step_us)
{
    return live_number((int64_t)time * 1000000 + step_us - 1, step_us);
}

struct live_day live_day_of(const struct options *o, int64_t number, int64_t step_us)
{
    const struct live_day_rule *rule = &o->day;
    int64_t start_us = live_start_us(number, step_us);
    struct tm date = date_of((time_t)live_number(start_us, 1000000), rule->local);
    struct live_day found = {.first = first_from(begin_of(&date, 0, rule), step_us)};
    while (found.first > number)
        found.first = first_from(begin_of(&date, -1, rule), step_us);
    struct tm next = date;
    while ((found.end = first_from(begin_of(&next, 1, rule), step_us)) <= number) {
        date = next;
        found.first = found.end;
    }
    strftime(found.name, sizeof found.name, "%Y-%m-%d", &date);
    return found;
}

bool live_day_write(const struct options *o, const struct live_day *day, const char *folder,
                    const char *stem, const struct report *r, const struct columns *columns,
                    uint64_t count, bool end, struct err *e)
{
    static const char *const formats[] = {"png", "csv"};
    struct report own = *r;
    char name[512];
    bool ok = true;
    (void)end;
    own.columns = columns;
    own.count = count;
    own.gaps = true;
    if (own.picture_width == 0 && count > WIDTH_MOST)
        own.picture_width = WIDTH_MOST;
    for (int i = 0; i < 2 && ok; i++) {
        snprintf(name, sizeof name, "%s-%s.%s", stem, day->name, formats[i]);
        char *path = path_join(folder, name, "", e);
        ok = path && writer_save(writer_find(formats[i]), &own,
                                 (struct strips){o->strip, o->strips}, path, e);
        free(path);
    }
    return ok;
}
