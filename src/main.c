/*
 * barcode - turns a film into one picture of its colours.
 *
 *   options -> plan -> for each film: source -> analysis frames -> engine -> columns -> pictures
 */
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "batch/batch.h"
#include "cache/frame_cache.h"
#include "cli/cli.h"
#include "live/live.h"
#include "match/match.h"
#include "plan/outputs.h"

static int run(int argc, char **argv)
{
    struct options options;
    struct inputs inputs = {0};
    struct output_plan outputs = {.kinds = 0};
    struct err e = ERR_INIT;
    int status;
    interrupt_open_standard();
    if (argc < 2)
        return cli_usage();
    if (command_run(argc, argv, &status))
        return status;
    switch (cli_parse(argc, argv, match_commands, &options, &e)) {
    case CLI_DONE: return 0;
    case CLI_BAD: return log_error(&e);
    case CLI_RUN: break;
    }
    interrupt_install();
    if (cache_options_action(&options.plan.cache))
        return cache_admin(&options.plan.cache, stdout, &e) ? 0 : log_error(&e);
    if (options.live.column_us > 0)
        return live_run(&options.plan, &options.live, &options.engine, &options.process);
    limits_set(options.process.memory, options.process.max_pixels);
    if (plan_films(&options.plan, &inputs, &outputs, &e)) {
        frame_cache_check_folder(&options.plan.cache);
        status = batch_render(&(struct batch_run){.plan = &options.plan,
                                                  .inputs = &inputs,
                                                  .outputs = &outputs,
                                                  .batch = &options.batch,
                                                  .engine = &options.engine,
                                                  .process = &options.process});
    } else {
        status = log_error(&e);
    }
    outputs_free(&outputs);
    inputs_free(&inputs);
    return status;
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (status == ERR_PIPE)
        interrupt_end_by_pipe();
    return status;
}
