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

static bool write_picture(struct render_job *j, struct strips strips, struct err *e)
{
    const struct options *o = j->render->options;
    char *path = inputs_output(o, j->render->inputs, j->input, strips.kind[0], e);
    if (!path)
        return false;
    bool fine = writer_save(&writer_png, &j->report, strips, path, e);
    if (fine)
        say_written(j, path);
    free(path);
    return fine;
}

bool render_write(struct render_job *j, int64_t started, struct err *e)
{
    const struct options *o = j->render->options;
    int64_t before = clock_ns();
    struct strips all = {o->strip, o->strips};
    size_t each = o->stacked ? o->strips : 1;
    for (size_t k = 0; k < o->strips; k += each)
        if (!write_picture(j, (struct strips){o->strip + k, each}, e))
            return false;
    if (j->dump) {
        if (!dump_commit(&j->dump, j->report.count, e))
            return false;
        say_written(j, o->dump);
    }
    j->report.times.write = (double)(clock_ns() - before) / 1e9;
    j->report.times.wall = (double)(clock_ns() - started) / 1e9;
    if (o->json) {
        if (!writer_save(&writer_json, &j->report, all, o->json, e))
            return false;
        say_written(j, o->json);
    }
    return !o->bench || writer_save(&writer_bench, &j->report, all, "-", e);
}
