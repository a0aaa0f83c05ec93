#include "day.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "barcode/base/clock.h"
#include "base/path.h"
#include "output/writer.h"

enum { WIDTH_MOST = 8640 }; /* of a day's picture without --width */

const struct live_clock live_machine_clock = {.wall_us = clock_wall_us, .steady_ns = clock_ns};

void live_stem(const char *name, char stem[STREAM_NAME])
{
    char label[STREAM_NAME];
    size_t length = 0, used = 0;
    stream_name_show(strcmp(name, "-") == 0 ? "stdin" : name, label);
    const char *at = strstr(label, "://");
    if (at) {
        at += 3;
        length = strlen(at);
    } else {
        at = path_last(label, &length);
    }
    for (; length > 0; length--, at++) {
        bool plain = isalnum((unsigned char)*at) || strchr("._-", *at);
        if (plain && (used > 0 || *at != '.'))
            stem[used++] = *at;
        else if (used > 0 && stem[used - 1] != '-')
            stem[used++] = '-';
    }
    while (used > 0 && stem[used - 1] == '-')
        used--;
    stem[used] = 0;
    if (used == 0)
        snprintf(stem, STREAM_NAME, "live");
}

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
 * Returns the local time of day `minutes` on the date of `date`: the first, if it comes twice. One
 * that summer time leaves out is as long after the time before as in standard time. mktime alone
 * would choose by what it was asked before.
 */
static time_t local_time(const struct tm *date, int minutes)
{
    time_t found[2];
    for (int summer = 0; summer < 2; summer++) {
        struct tm at = {.tm_year = date->tm_year,
                        .tm_mon = date->tm_mon,
                        .tm_mday = date->tm_mday,
                        .tm_hour = minutes / 60,
                        .tm_min = minutes % 60,
                        .tm_isdst = summer};
        found[summer] = mktime(&at);
        struct tm back = date_of(found[summer], true);
        bool exists = back.tm_mday == date->tm_mday && back.tm_hour * 60 + back.tm_min == minutes;
        if (summer == 1 && (!exists || found[1] > found[0]))
            found[1] = found[0];
    }
    return found[1];
}

/* Returns when the day begins that is `days` after the date of `tm`, which gets that date. */
static time_t begin_of(struct tm *tm, int days, const struct live_day_rule *rule)
{
    tm->tm_mday += days;
    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    tm->tm_isdst = 0;
    time_t midnight = timegm(tm); /* makes the date valid */
    return rule->local ? local_time(tm, rule->minutes) : midnight + (time_t)rule->minutes * 60;
}

/* Returns the first column that begins at `time` or later. */
static int64_t first_from(time_t time, int64_t step_us)
{
    return live_number((int64_t)time * 1000000 + step_us - 1, step_us);
}

struct live_day live_day_of(const struct live_day_rule *rule, int64_t number, int64_t step_us)
{
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

char *live_day_newest(const char *folder, const char *stem, int64_t now_us)
{
    static const char date[] = "-0000-00-00.columns";
    char newest[NAME_MAX + 1] = "";
    struct err none = ERR_INIT;
    const struct dirent *d;
    size_t length = strlen(stem);
    char tomorrow[16];
    struct tm tm = date_of((time_t)live_number(now_us + LIVE_DAY_US, 1000000), false);
    strftime(tomorrow, sizeof tomorrow, "-%Y-%m-%d", &tm);
    DIR *all = opendir(folder);
    while (all && (d = readdir(all))) {
        const char *end = d->d_name + length;
        if (strncmp(d->d_name, stem, length) == 0 && strlen(end) == strlen(date) &&
            strspn(end, "-0123456789") == strlen(date) - strlen(".columns") &&
            strcmp(strrchr(end, '.'), ".columns") == 0 &&
            strncmp(end, tomorrow, strlen(tomorrow)) <= 0 && strcmp(d->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", d->d_name);
    }
    if (all)
        closedir(all);
    return newest[0] ? path_join(folder, newest, "", &none) : NULL;
}

int64_t live_day_since(const char *folder, const char *stem, int64_t now_us)
{
    struct live_shape shape;
    struct err none = ERR_INIT;
    int64_t last = INT64_MIN;
    char *path = live_day_newest(folder, stem, now_us);
    if (path && live_log_shape(path, &shape)) {
        struct live_log *log = live_log_open(path, &shape, NULL, NULL, &none);
        last = log ? live_log_last(log) : INT64_MIN;
        live_log_close(&log);
    }
    free(path);
    return last == INT64_MIN ? 0 : live_start_us(last + 1, shape.step_us);
}

/* A file that barcode did not make stays. */
static bool may_replace(const struct writer *w, const char *path, struct err *e)
{
    char film[FILM_ID_TEXT];
    struct stat s;
    if (lstat(path, &s) == 0 && !writer_made(w, path, film))
        return err_set(e, ERR_FAILED, "'%s' is not a file that barcode made; give another -o",
                       path);
    return true;
}

/* Writes FOLDER/NAME-MODE.ENDING of the writer; without -MODE if `mode` is NULL. */
static bool write_file(const struct writer *w, const struct report *r, struct strips strips,
                       const char *folder, const char *name, const char *mode, struct err *e)
{
    char file[600];
    snprintf(file, sizeof file, "%s%s%s.%s", name, mode ? "-" : "", mode ? mode : "", w->name);
    char *path = path_join(folder, file, "", e);
    bool ok = path && may_replace(w, path, e) && writer_save(w, r, strips, path, e);
    free(path);
    return ok;
}

bool live_day_write(struct strips strips, const struct live_day *day, const char *folder,
                    const char *stem, const struct report *r, const struct columns *columns,
                    uint64_t count, bool end, struct err *e)
{
    const struct writer *png = writer_find("png");
    bool together = strips.count == 1 || r->picture.stacked, ok = true;
    struct report report = *r;
    char name[512];
    report.quick = !end;
    report.clock_us = live_start_us(day->first, r->analysis.selection.interval_us);
    report.columns = columns;
    report.count = count;
    report.gaps = true;
    if (report.picture.width == 0)
        report.picture.width =
            count > WIDTH_MOST ? WIDTH_MOST : (int)(count * picture_repeats(count));
    snprintf(name, sizeof name, "%s-%s", stem, day->name);
    for (size_t i = 0; ok && !together && i < strips.count; i++)
        ok = write_file(png, &report, (struct strips){strips.kind + i, 1}, folder, name,
                        strips.kind[i]->name, e);
    if (together)
        ok = write_file(png, &report, strips, folder, name, NULL, e);
    return ok && write_file(writer_find("csv"), &report, strips, folder, name, NULL, e);
}
