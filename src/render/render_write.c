#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/watch.h"
#include "plan/options_fingerprint.h"
#include "barcode/sound/spectrogram.h"
#include "render_job.h"

static void log_written(const struct render_job *j, const struct output *output)
{
    const struct writer *w = output->writer;
    uint64_t count = w && w->beside     ? previews_count(j->previews)
                     : w && w->spectrum ? spectrogram_frames(j->report.sound->samples)
                     : w && w->sound    ? j->report.sound->peaks
                                        : j->report.count;
    const char *what = w && w->beside     ? "preview"
                       : w && w->spectrum ? "frame"
                       : w && w->sound    ? "peak"
                                          : "column";
    if (!outputs_is_stdout(output->path) && !output->in_memory)
        log_msg(LOG_INFO, "wrote '%s': %" PRIu64 " %s%s", output->path, count, what,
                count == 1 ? "" : "s");
}

/* Writes an output. */
static bool save_output(const struct render_job *j, const struct output *output, struct err *e)
{
    const struct writer *w = output->writer;
    if (!writer_save(w, &j->report, output->strips, output->path, e))
        return false;
    if (!j->render->table || !w->table || output->chosen) /* the parent has the rows of a table */
        log_written(j, output);
    return true;
}

/* Writes the outputs that contain the time the film took, or all others. */
static bool write_outputs(struct render_job *j, const struct outputs *list, bool tell_times,
                          struct err *e)
{
    for (size_t k = 0; k < list->count; k++) {
        const struct output *output = &list->output[k];
        if (output->writer->has_times != tell_times)
            continue;
        options_fingerprint(j->render->options, output->writer, output->strips,
                            j->report.fingerprint);
        if (j->unsettled)
            fingerprint_add_again(j->report.fingerprint, j->report.film->path);
        j->report.overwrite = output->overwrite;
        /* What an earlier attempt has written is the film's own. */
        bool allowed = j->render->again || outputs_allowed(j->render->inputs, j->input, output, e);
        if (!allowed || !outputs_make_folders(output, e) || !save_output(j, output, e))
            return false;
    }
    return true;
}

static bool write_dump(struct render_job *j, struct err *e)
{
    if (!j->dump)
        return true;
    if (!dump_commit(&j->dump, j->report.count, e))
        return false;
    log_written(j, &j->outputs.dump);
    return true;
}

bool render_write(struct render_job *j, int64_t started, struct err *e)
{
    int64_t before = clock_ns();
    j->report.partial = !render_is_whole(j);
    watch_untimed(true); /* all outputs are written, or none */
    bool ok = write_outputs(j, &j->outputs, false, e) && write_dump(j, e);
    j->report.times.write = clock_since(before);
    j->report.times.wall = clock_since(started) - j->report.times.waiting;
    ok = ok && write_outputs(j, &j->outputs, true, e);
    watch_untimed(false);
    j->written = ok;
    return ok;
}
