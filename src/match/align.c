#include "command.h"

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Outputs:", 1},
    {"output", 'o', "FILE", 0, "output file (.html, .csv, .edl, .json); may be repeated", 0},
    {0}};

static bool set_option(void *user, int key, const char *arg, struct err *e)
{
    (void)user;
    (void)arg;
    return err_set(e, ERR_FAILED, "internal error: nothing reads the option %d", key);
}

static const struct command command = {
    "align", "A B",
    "Aligns two versions of a film by their sound: which times of B are which times of A, and what "
    "is missing in either.",
    options, set_option};

int command_align(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct command_line line;
    enum command_result parsed = command_parse(&command, argc, argv, NULL, &line, &e);
    if (parsed == COMMAND_RUN && line.words != 2)
        err_set(&e, ERR_USAGE, "align needs two films; usage: barcode align [OPTION...] A B");
    command_line_free(&line);
    return e.code != ERR_NONE ? err_report(&e) : 0;
}
