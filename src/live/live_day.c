#include "live_day.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live_time.h"
#include "barcode/base/path.h"
#include "barcode/output/writer.h"

enum { WIDTH_MOST = 8640 }; /* of a day's picture without --width */

struct live_day live_day_of(const struct options *o, int64_t number, int64_t step_us)
{
    (void)o;
    int64_t day = live_number(live_start_us(number, step_us), LIVE_DAY_US),
            each = LIVE_DAY_US / step_us;
    struct live_day found = {.first = day * each, .end = (day + 1) * each};
    time_t begin = (time_t)(day * (LIVE_DAY_US / 1000000));
    struct tm utc;
    gmtime_r(&begin, &utc);
    strftime(found.name, sizeof found.name, "%Y-%m-%d", &utc);
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
