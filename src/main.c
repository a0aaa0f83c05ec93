/*
 * barcode - turns a film into one picture of its colours.
 *
 *   options -> films -> for each: source -> analysis frames -> engine -> columns -> pictures
 */
#include "barcode/base/interrupt.h"
#include "barcode/base/limits.h"
#include "barcode/base/machine.h"
#include "barcode/batch/films.h"
#include "barcode/cache/cache_admin.h"
#include "barcode/cache/frame_cache.h"
#include "barcode/cli/cli.h"
#include "barcode/cli/inputs.h"
#include "barcode/cli/outputs.h"
#include "barcode/cli/shard.h"
#include "barcode/cli/update.h"
#include "barcode/live/live.h"

int main(int argc, char **argv)
{
    struct options options;
    struct inputs inputs = {0};
    struct err e = ERR_INIT;
    interrupt_open_standard();
    switch (cli_parse(argc, argv, &options, &e)) {
    case CLI_DONE: return 0;
    case CLI_BAD: return err_report(&e);
    case CLI_RUN: break;
    }
    interrupt_install();
    if (cache_options_action(&options.cache))
        return cache_admin(&options.cache, stdout, &e) ? 0 : err_report(&e);

    limits_set(options.memory, options.pixels);
    int threads = options.threads > 0 ? options.threads : machine_cores();
    struct engines engines;
    engines_init(&engines, options.engine, &options.devices, threads);
    if (options.live_us > 0) {
        int status = live_run(&options, &engines);
        engines_close(&engines);
        return status;
    }
    struct render r = {
        .options = &options, .inputs = &inputs, .engines = &engines, .threads = threads};
    bool ready = inputs_expand(&options, &inputs, &e) && shard_split(&options, &inputs, &e) &&
                 update_leave_out(&options, &inputs, &e) && outputs_check(&options, &inputs, &e);
    if (ready)
        frame_cache_check_folder(&options.cache);
    int status = ready ? render_films(&r) : err_report(&e);
    engines_close(&engines);
    inputs_free(&inputs);
    return status;
}
