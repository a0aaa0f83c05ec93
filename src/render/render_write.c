#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/clock.h"
#include "barcode/writer.h"
#include "render_job.h"

static void say_written(const struct render_job *j, const char *path)
{
    if (strcmp(path, "-") != 0)
        log_msg(LOG_INFO, "wrote '%s': %" PRIu64 " column%s", path, j->report.count, j->report.count == 1 ? "" : "s");
}

static bool write_picture(struct render_job *j, enum mode m, struct err *e)
{
    const struct options *o = j->render->options;
    char *path = inputs_output(o, j->render->inputs, j->input, m, e);
    if (!path)
        return false;
    bool fine = writer_save(&writer_png, &j->report, m, o->stacked, path, e);
    if (fine)
        say_written(j, path);
    free(path);
    return fine;
}

bool render_write(struct render_job *j, int64_t started, struct err *e)
{
    const struct options *o = j->render->options;
    int64_t before = clock_ns();
    for (enum mode m = 0; m < MODE_COUNT; m++)
        if ((o->stacked ? m == 0 : o->mode[m]) && !write_picture(j, m, e))
            return false;
    if (j->dump) {
        if (!dump_commit(&j->dump, j->report.count, e))
            return false;
        say_written(j, o->dump);
    }
    j->report.times.write = (double)(clock_ns() - before) / 1e9;
    j->report.times.wall = (double)(clock_ns() - started) / 1e9;
    if (o->json) {
        if (!writer_save(&writer_json, &j->report, 0, false, o->json, e))
            return false;
        say_written(j, o->json);
    }
    return !o->bench || writer_save(&writer_bench, &j->report, 0, false, "-", e);
}
