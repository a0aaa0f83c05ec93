/* cli.h - parses the command line. Parsing, --help and the man page come from one table (argp). */
#ifndef BARCODE_CLI_H
#define BARCODE_CLI_H

#include <argp.h>

#include "plan/options.h"

/* A command that is no film, such as `barcode align`. */
struct cli_command {
    const char *name, *what; /* `what` is a line for completions */
    int (*run)(int argc, char **argv);
    const struct argp_option *options; /* its own; ends in zeros */
};

/* The commands, which match/command.c defines; their number is cli_command_count. */
extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;
/* The options that all commands have beside their own; ends in zeros. */
extern const struct argp_option cli_command_options[];

enum cli_result {
    CLI_RUN,  /* the options are set: render */
    CLI_DONE, /* the answer to --help, --usage, --version or the like is printed */
    /*
     * `e` is set. ERR_USAGE, ERR_ENGINE for an engine that this build lacks, or ERR_FAILED if the
     * answer cannot be written.
     */
    CLI_BAD
};

/*
 * Parses the command line into `*o` and sets the log level (-q, -v, -vv). `*o` points into argv.
 * Reorders argv: options come first. `e` must be empty; on CLI_BAD the caller prints it. Never
 * exits. Main thread only.
 */
enum cli_result cli_parse(int argc, char **argv, struct options *o, struct err *e);

/*
 * Parses "90", "1:30" or "1:02:03.250" to microseconds; further digits are dropped. Returns false
 * if `text` is no time.
 */
bool cli_parse_time(const char *text, int64_t *us);

/*
 * Parses "320x180", "320", "1/4" or "full". Returns false, and leaves `*rule` unchanged, if `text`
 * is no size.
 */
bool cli_parse_size(const char *text, struct size_rule *rule);

/*
 * Parses "auto", "off" or "W:H:X:Y" (sides from 1 to 16384). Returns false, and leaves `*rule`
 * unchanged, if `text` is none of these.
 */
bool cli_parse_crop(const char *text, struct crop_rule *rule);

/*
 * Parses "kmeans,average" or "all" into o->strip, o->strips and o->stacked, replacing their values.
 * Returns false, and leaves them unchanged, with ERR_USAGE.
 */
bool cli_parse_modes(const char *text, struct options *o, struct err *e);

/* Parses -360 to 360 degrees, with two decimals at most, into o->slit.angle. */
bool cli_parse_rotate(const char *text, struct options *o, struct err *e);

/*
 * Sets o->steady to a percentage from 0 to STEADY_MOST. NULL (--steady without a value) gives
 * STEADY_USUAL. Returns false with ERR_USAGE.
 */
bool cli_parse_steady(const char *text, struct options *o, struct err *e);

/* Parses "lightness" or "share" into o->order. Returns false with ERR_USAGE. */
bool cli_parse_order(const char *text, struct options *o, struct err *e);

/* Parses FILM_PALETTE_LEAST to FILM_PALETTE_MOST into o->colours. Returns false with ERR_USAGE. */
bool cli_parse_colours(const char *text, struct options *o, struct err *e);

/*
 * Parse the values of --tone-map, --hdr-peak and --light into o->light. Return false with
 * ERR_USAGE.
 */
bool cli_parse_tone_map(const char *text, struct options *o, struct err *e);
bool cli_parse_hdr_peak(const char *text, struct options *o, struct err *e);
bool cli_parse_light(const char *text, struct options *o, struct err *e);

/*
 * Parse the values of --shape, --smooth, --poster (NULL if it has none), --title, --page and --dpi,
 * each into its field. Return false with ERR_USAGE.
 */
bool cli_parse_shape(const char *text, struct options *o, struct err *e);
bool cli_parse_smooth(const char *text, struct options *o, struct err *e);
bool cli_parse_poster(const char *text, struct options *o, struct err *e);
bool cli_parse_title(const char *text, struct options *o, struct err *e);
bool cli_parse_page(const char *text, struct options *o, struct err *e);
bool cli_parse_dpi(const char *text, struct options *o, struct err *e);
bool cli_parse_subtitle(const char *text, struct options *o, struct err *e);
bool cli_parse_background(const char *text, struct options *o, struct err *e);
bool cli_parse_font(const char *text, struct options *o, struct err *e);
bool cli_parse_svg_text(const char *text, struct options *o, struct err *e);

/*
 * Checks the options of posters and shapes together and fills in the defaults. Call it after all
 * options are parsed. The default size across time is 360 pixels, 1080 for SVG and PDF. A circle
 * has 1080 pixels, 2160 in SVG and PDF. The default of --dpi is PAPER_DPI_USUAL. Returns false with
 * ERR_USAGE.
 */
bool cli_finalize_picture(struct options *o, struct err *e);

/*
 * Parses "auto", "cpu", "cuda", "cuda:1" or "cuda:0,2" into o->engine and o->devices. Returns false
 * with ERR_USAGE, or with ERR_ENGINE if this build lacks the engine.
 */
bool cli_parse_engine(const char *text, struct options *o, struct err *e);

/*
 * Checks a pattern such as "{stem}-barcode" and sets o->name to it. Returns false with ERR_USAGE.
 */
bool cli_parse_name(const char *text, struct options *o, struct err *e);

/*
 * Parses "24", "23.976" or "30000/1001" into o->rate_num and o->rate_den. Returns false with
 * ERR_USAGE.
 */
bool cli_parse_rate(const char *text, struct options *o, struct err *e);

/* Parse "[ADDR:]PORT" into o->serve, "rgb" or "jsonl" into o->live_format. Return false with
 * ERR_USAGE. */
bool cli_parse_serve(const char *text, struct options *o, struct err *e);
bool cli_parse_live_format(const char *text, struct options *o, struct err *e);

/* Parses a size such as "1G" (256 MiB or more) into o->memory. Returns false with ERR_USAGE. */
bool cli_parse_memory(const char *text, struct options *o, struct err *e);

/* Parses "2/8" into o->shard and o->shards. Returns false with ERR_USAGE. */
bool cli_parse_shard(const char *text, struct options *o, struct err *e);

/*
 * Parses the seconds of a column (NULL: 10) into o->live_us. Returns false with ERR_USAGE if a day
 * has no whole number of such columns, or if it is below 0.04 s.
 */
bool cli_parse_live(const char *text, struct options *o, struct err *e);

/* Parses "utc", "local" or "HH:MM" into o->day. Returns false with ERR_USAGE. */
bool cli_parse_day(const char *text, struct options *o, struct err *e);

/* Checks the options of --live together. Returns false with ERR_USAGE. */
bool cli_check_live(const struct options *o, struct err *e);

/* Parses "auto", "cpu" or "nvdec" into o->decode. Returns false with ERR_USAGE. */
bool cli_parse_decode(const char *text, struct options *o, struct err *e);

#endif
