/* cli.h - argv to options. One table gives parsing, --help and the man page (argp). */
#ifndef BARCODE_CLI_H
#define BARCODE_CLI_H

#include "barcode/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cli_result {
    CLI_RUN,  /* go on */
    CLI_DONE, /* --help, --usage or --version were answered */
    /*
     * `e` holds the sentence: ERR_USAGE, or ERR_ENGINE for an engine this build lacks, or
     * ERR_FAILED when --help could not be written
     */
    CLI_BAD
};

/*
 * Parses. Options point into argv, whose words are put in another order (options first).
 * Sets the log level (-q, -v, -vv). `e` comes in empty; on CLI_BAD the caller prints it. Never
 * exits. Main thread only.
 */
enum cli_result cli_parse(int argc, char **argv, struct options *o, struct err *e);

/* "90", "1:30", "1:02:03.250" to microseconds; anything finer is cut off. False: not a time. */
bool cli_parse_time(const char *text, int64_t *us);

/* "320x180", "320", "1/4", "full". False: not a size, and *rule is as it was. */
bool cli_parse_size(const char *text, struct size_rule *rule);

/* "auto", "off", "W:H:X:Y" (sides of 1 to 16384). False: none of these, and *rule is as it was. */
bool cli_parse_crop(const char *text, struct crop_rule *rule);

/* "kmeans,average" or "all" into o->strip and o->stacked, in place of what was there. False: they
 * are as they were. */
bool cli_parse_modes(const char *text, struct options *o, struct err *e);

/* NULL (a bare --steady) or per cent from 0 to STEADY_MOST into o->steady. */
bool cli_parse_steady(const char *text, struct options *o, struct err *e);

/* "lightness", "share" into o->order. */
bool cli_parse_order(const char *text, struct options *o, struct err *e);

/* --tone-map, --hdr-peak and --light, into o->light. False: ERR_USAGE. */
bool cli_parse_tone_map(const char *text, struct options *o, struct err *e);
bool cli_parse_hdr_peak(const char *text, struct options *o, struct err *e);
bool cli_parse_light(const char *text, struct options *o, struct err *e);

/* --shape, --smooth, --poster (NULL: bare), --title, --page and --dpi, each into its field. False:
 * ERR_USAGE. */
bool cli_parse_shape(const char *text, struct options *o, struct err *e);
bool cli_parse_smooth(const char *text, struct options *o, struct err *e);
bool cli_parse_poster(const char *text, struct options *o, struct err *e);
bool cli_parse_title(const char *text, struct options *o, struct err *e);
bool cli_parse_page(const char *text, struct options *o, struct err *e);
bool cli_parse_dpi(const char *text, struct options *o, struct err *e);

/*
 * When all options are read: checks what posters and shapes ask of each other, and puts in what
 * nobody said: across time 360 pixels, of a strip in SVG and PDF 1080; a circle 1080 and 2160;
 * PAPER_DPI_USUAL. False: ERR_USAGE.
 */
bool cli_finalize_picture(struct options *o, struct err *e);

/* "auto", "cpu", "cuda", "cuda:1", "cuda:0,2" into o->engine and o->devices. ERR_ENGINE when this
 * build lacks the engine. */
bool cli_parse_engine(const char *text, struct options *o, struct err *e);

/* What stands for the film's name and for its modes in --name. */
#define CLI_NAME_STEM "{stem}"
#define CLI_NAME_MODE "{mode}"

/* "{stem}-barcode" into o->name. */
bool cli_parse_name(const char *text, struct options *o, struct err *e);

/* "2/8" into o->shard and o->shards. */
bool cli_parse_shard(const char *text, struct options *o, struct err *e);

/* "auto", "cpu", "nvdec" into o->decode. */
bool cli_parse_decode(const char *text, struct options *o, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
