#include "cli.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/log.h"
#include "plan/outputs.h"
#include "output/poster/paint.h"
#include "cli_explain.h"
#include "cli_help.h"
#include "cli_modes.h"
#include "cli_values.h"
#include "cli_version.h"
#include "completions.h"
#include "option_table.h"
#include "plan/inputs_names.h"

/* The state of parsing, while argp walks the words. */
struct parse {
    struct options *o;
    struct err *e;
    const char *start, *end;       /* as given, for messages */
    const char *previews;          /* an option that was given and needs --trickplay, or NULL */
    bool rule[SELECT_COLUMNS + 1]; /* which of --every, --interval, --columns were given */
    /* the path for each writer of the table; NULL: not requested */
    const char *extra[WRITERS_MOST];
    enum log_level level;
    bool sized;    /* --size was given */
    bool answered; /* -h, --help, --usage or --version */
};

static bool set_u64(struct parse *p, const char *name, const char *arg, uint64_t least,
                    uint64_t most, uint64_t *to)
{
    uint64_t value;
    if (!cli_read_whole(arg, least, most, &value))
        return err_set(p->e, ERR_USAGE, "%s: '%s' is not a whole number from %llu to %llu", name,
                       arg, (unsigned long long)least, (unsigned long long)most);
    *to = value;
    return true;
}

static bool set_int(struct parse *p, const char *name, const char *arg, int most, int *to)
{
    uint64_t value = 0;
    if (!set_u64(p, name, arg, 1, (uint64_t)most, &value))
        return false;
    *to = (int)value;
    return true;
}

static bool set_time(struct parse *p, const char *name, const char *arg, int64_t least, int64_t *to)
{
    int64_t value;
    if (!cli_parse_time(arg, &value))
        return err_set(p->e, ERR_USAGE, "%s: '%s' is not a time such as 90, 1:30 or 1:02:03.250",
                       name, arg);
    if (value < least)
        return err_set(p->e, ERR_USAGE, "%s: '%s' is too short", name, arg);
    *to = value;
    return true;
}

static bool set_path(struct parse *p, const char *name, const char *arg, const char **to)
{
    if (!*arg)
        return err_set(p->e, ERR_USAGE, "%s: the name is empty", name);
    if (arg[0] == '-' && arg[1])
        return err_set(p->e, ERR_USAGE,
                       "%s needs a name before '%s'; a file of that name is './%s'", name, arg,
                       arg);
    *to = atomic_file_is_stdout(arg) ? "-" : arg; /* other code knows stdout only as "-" */
    return true;
}

/*
 * Sets the path of an output with an option of its own. Given again, the last value counts. Without
 * a value the path is stdout.
 */
static bool set_extra(struct parse *p, const struct writer *w, const char *arg)
{
    char name[32];
    size_t i = 0;
    while (writer_table[i] != w)
        i++;
    snprintf(name, sizeof name, "--%s", writer_option(w));
    if (w->folder && atomic_file_is_stdout(arg))
        return err_set(p->e, ERR_USAGE, "%s: '%s' is not a folder", name, arg);
    return set_path(p, name, arg ? arg : "-", &p->extra[i]);
}

/*
 * Sets the path of --swatches. The ending selects the format; a folder or stdout gets the first
 * one. The option may be given once per format.
 */
static bool set_swatches(struct parse *p, const char *arg)
{
    static const char *const json_ending[] = {"json", NULL};
    size_t length = strlen(arg);
    bool plain =
        !*arg || arg[length - 1] == '/' || inputs_is_folder(arg) || atomic_file_is_stdout(arg);
    for (size_t i = 0; i < writer_count; i++) {
        const struct writer *w = writer_table[i];
        if (strcmp(writer_option(w), "swatches") == 0 &&
            (plain || writer_has_ending(arg, w->ending ? w->ending : json_ending)))
            return set_extra(p, w, arg);
    }
    return err_set(p->e, ERR_USAGE, "--swatches: '%s' does not end in .gpl, .ase, .css or .json",
                   arg);
}

/* Sets the writers of --trickplay, KIND[,KIND...]. Their files lie beside the films. */
static bool set_trickplay(struct parse *p, const char *arg)
{
    for (size_t length;; arg += length + 1) {
        const struct writer *found = NULL;
        arg += strspn(arg, " ");
        length = strcspn(arg, ",");
        for (size_t i = 0; i < writer_count; i++) {
            const struct writer *w = writer_table[i];
            if (w->beside && strlen(w->name) == length && memcmp(arg, w->name, length) == 0) {
                found = w;
                p->extra[i] = "";
            }
        }
        if (!found)
            return err_set(p->e, ERR_USAGE, "--trickplay: '%.*s' is not jellyfin or bif",
                           (int)length, arg);
        if (!arg[length])
            return true;
    }
}

static bool set_trickplay_interval(struct parse *p, const char *arg)
{
    int64_t *us = &p->o->formats.previews.interval_us;
    p->previews = "--trickplay-interval";
    return set_time(p, p->previews, arg, 0, us) &&
           ((*us >= 1000000 && *us % 1000 == 0 && *us / 1000 <= UINT32_MAX) ||
            err_set(p->e, ERR_USAGE,
                    "%s: '%s' is not in whole milliseconds, from 1 second to 49 days", p->previews,
                    arg));
}

static bool set_trickplay_width(struct parse *p, const char *arg)
{
    uint64_t value;
    p->previews = "--trickplay-width";
    if (!cli_read_whole(arg, 2, PREVIEWS_WIDTH_MOST, &value) || value % 2 != 0)
        return err_set(p->e, ERR_USAGE,
                       "--trickplay-width: '%s' is not an even number from 2 to %d", arg,
                       PREVIEWS_WIDTH_MOST);
    p->o->formats.previews.width = (int)value;
    return true;
}

static bool set_stream(struct parse *p, const char *name, const char *arg, int *stream)
{
    uint64_t value = 0;
    if (!set_u64(p, name, arg, 0, 9999, &value))
        return false;
    *stream = (int)value;
    return true;
}

static bool set_init(struct parse *p, const char *arg)
{
    for (int i = INIT_SCALABLE; i <= INIT_RANDOM; i++) {
        p->o->kmeans.init = (enum kmeans_init)i;
        if (strcmp(arg, kmeans_init_name(p->o->kmeans.init)) == 0)
            return true;
    }
    return err_set(p->e, ERR_USAGE, "--init: '%s' is not scalable, k-means++ or random", arg);
}

static bool set_progress(struct parse *p, const char *arg)
{
    static const char *const word[] = {"auto", "always", "never"};
    for (int i = PROGRESS_AUTO; i <= PROGRESS_NEVER; i++) {
        p->o->batch.progress = (enum progress_when)i;
        if (strcmp(arg, word[i]) == 0)
            return true;
    }
    return err_set(p->e, ERR_USAGE, "--progress: '%s' is not auto, always or never", arg);
}

static bool set_sandbox(struct parse *p, const char *arg)
{
    static const char *const word[] = {"auto", "require", "off"};
    for (int i = SANDBOX_AUTO; i <= SANDBOX_OFF; i++) {
        p->o->process.sandbox = (enum sandbox_choice)i;
        if (strcmp(arg, word[i]) == 0)
            return true;
    }
    return err_set(p->e, ERR_USAGE, "--sandbox: '%s' is not auto, require or off", arg);
}

/*
 * Sets the path of the writer that has the option's name. Called for options without a case of
 * their own, which come first, so a writer never takes their names.
 */
static bool set_other(struct parse *p, int key, const char *arg)
{
    const struct argp_option *option = cli_find_key(cli_option_table, key);
    const struct writer *w = option ? writer_find(option->name) : NULL;
    return w ? set_extra(p, w, arg)
             : err_set(p->e, ERR_FAILED, "internal error: nothing reads the option --%s",
                       option ? option->name : "?");
}

static bool option_layout(struct parse *p, int key, const char *arg)
{
    struct options *o = p->o;
    switch (key) {
    case KEY_SHAPE: return cli_parse_shape(arg, o, p->e);
    case KEY_SMOOTH: return cli_parse_smooth(arg, o, p->e);
    case KEY_ROTATE: return cli_parse_rotate(arg, o, p->e);
    case KEY_POSTER: return cli_parse_poster(arg, o, p->e);
    case KEY_TITLE: return cli_parse_title(arg, o, p->e);
    case KEY_PAGE: return cli_parse_page(arg, o, p->e);
    case KEY_DPI: return cli_parse_dpi(arg, o, p->e);
    case KEY_SUBTITLE: return cli_parse_subtitle(arg, o, p->e);
    case KEY_BACKGROUND: return cli_parse_background(arg, o, p->e);
    case KEY_FONT: return cli_parse_font(arg, o, p->e);
    case KEY_SVG_TEXT: return cli_parse_svg_text(arg, o, p->e);
    case KEY_TRICKPLAY: return set_trickplay(p, arg);
    case KEY_TRICKPLAY_INTERVAL: return set_trickplay_interval(p, arg);
    case KEY_TRICKPLAY_WIDTH: return set_trickplay_width(p, arg);
    default: return set_other(p, key, arg);
    }
}

static bool option_frames(struct parse *p, int key, const char *arg)
{
    struct selection *s = &p->o->film.selection;
    switch (key) {
    case 'n':
        s->kind = SELECT_EVERY;
        p->rule[SELECT_EVERY] = true;
        return set_u64(p, "-n", arg, 1, (uint64_t)1 << 31, &s->every);
    case KEY_INTERVAL:
        s->kind = SELECT_INTERVAL;
        p->rule[SELECT_INTERVAL] = true;
        return set_time(p, "--interval", arg, 1, &s->interval_us);
    case KEY_COLUMNS:
        s->kind = SELECT_COLUMNS;
        p->rule[SELECT_COLUMNS] = true;
        return set_u64(p, "--columns", arg, 1, OPTION_COLUMNS_MOST, &s->columns);
    case KEY_TIMEOUT: return set_time(p, "--timeout", arg, 1, &p->o->live.timeout_us);
    case KEY_FILM_TIMEOUT:
        return set_time(p, "--film-timeout", arg, 1, &p->o->batch.film_timeout_us);
    case KEY_START: p->start = arg; return set_time(p, "--start", arg, 0, &s->start_us);
    case KEY_END: p->end = arg; return set_time(p, "--end", arg, 0, &s->end_us);
    default: return option_layout(p, key, arg);
    }
}

static bool set_size(struct parse *p, const char *arg)
{
    p->sized = true;
    return cli_parse_size(arg, &p->o->film.size) ||
           err_set(p->e, ERR_USAGE,
                   "--size: '%s' is not WxH, SIDE (1 to 16384), 1/D (1 to 1000) or full", arg);
}

static bool set_crop(struct parse *p, const char *arg)
{
    return cli_parse_crop(arg, &p->o->film.crop) ||
           err_set(p->e, ERR_USAGE, "--crop: '%s' is not auto, off or W:H:X:Y", arg);
}

static bool option_value(struct parse *p, int key, const char *arg)
{
    struct options *o = p->o;
    switch (key) {
    case 'o': return set_path(p, "-o", arg, &o->outputs.path);
    case KEY_NAME: return cli_parse_name(arg, o, p->e);
    case KEY_RATE: return cli_parse_rate(arg, o, p->e);
    case KEY_SERVE: return cli_parse_serve(arg, o, p->e);
    case KEY_LIVE_FORMAT: return cli_parse_live_format(arg, o, p->e);
    case KEY_SHARD: return cli_parse_shard(arg, o, p->e);
    case KEY_CSV_COLUMNS: return csv_columns_parse(arg, &o->formats.csv_columns, p->e);
    case KEY_REPORT: return set_path(p, "--report", arg, &o->outputs.report);
    case KEY_SWATCHES: return set_swatches(p, arg);
    case KEY_DUMP: return set_path(p, "--dump", arg, &o->outputs.dump);
    case 'm': return cli_parse_modes(arg, o, p->e);
    case KEY_WIDTH: return set_int(p, "--width", arg, OPTION_COLUMNS_MOST, &o->picture.width);
    case KEY_HEIGHT: return set_int(p, "--height", arg, 65535, &o->picture.height);
    case KEY_SIZE: return set_size(p, arg);
    case KEY_CROP: return set_crop(p, arg);
    case KEY_TONE_MAP: return cli_parse_tone_map(arg, o, p->e);
    case KEY_HDR_PEAK: return cli_parse_hdr_peak(arg, o, p->e);
    case KEY_LIGHT: return cli_parse_light(arg, o, p->e);
    case 'k': return set_int(p, "-k", arg, 64, &o->kmeans.k);
    case KEY_N_INIT: return set_int(p, "--n-init", arg, 1000, &o->kmeans.n_init);
    case KEY_STEADY: return cli_parse_steady(arg, o, p->e);
    case KEY_COLOURS: return cli_parse_colours(arg, o, p->e);
    case KEY_ORDER: return cli_parse_order(arg, o, p->e);
    case KEY_INIT: return set_init(p, arg);
    case KEY_MAX_ITER: return set_int(p, "--max-iter", arg, 100000, &o->kmeans.max_iter);
    case KEY_SEED: return set_u64(p, "--seed", arg, 0, UINT64_MAX, &o->kmeans.seed);
    case KEY_STREAM: return set_stream(p, "--stream", arg, &p->o->film.stream);
    case KEY_SOUND_STREAM: return set_stream(p, "--sound-stream", arg, &p->o->film.sound_stream);
    case KEY_THREADS: return set_int(p, "--threads", arg, 1024, &o->process.threads);
    case KEY_MEMORY: return cli_parse_memory(arg, o, p->e);
    case KEY_MAX_PIXELS:
        return set_u64(p, "--max-pixels", arg, 1, INT64_MAX, &o->process.max_pixels);
    case 'j': return set_int(p, "--jobs", arg, OPTION_JOBS_MOST, &o->batch.jobs);
    case KEY_PROGRESS: return set_progress(p, arg);
    case KEY_SANDBOX: return set_sandbox(p, arg);
    case KEY_LIVE: return cli_parse_live(arg, o, p->e);
    case KEY_DAY: return cli_parse_day(arg, o, p->e);
    case KEY_ENGINE: return cli_parse_engine(arg, o, p->e);
    case KEY_DECODE: return cli_parse_decode(arg, o, p->e);
    default: return option_frames(p, key, arg);
    }
}

/*
 * Prints the answer to -h, --help, --generate and the like. argp prints nothing with ARGP_NO_ERRS.
 */
static void answer(struct parse *p, int key, const char *arg, struct argp_state *state)
{
    static char name[] = "barcode";
    state->name = name;
    state->flags &= ~(unsigned)ARGP_NO_ERRS;
    p->answered = true;
    errno = 0;
    if (key == 'V')
        cli_print_version(stdout);
    else if (key == KEY_GENERATE)
        completions_write(cli_option_table, arg, stdout, p->e);
    else if (key == 'h')
        cli_print_short_help(state, stdout);
    else
        argp_state_help(state, stdout, key == KEY_HELP ? CLI_HELP_WHOLE : ARGP_HELP_USAGE);
    /* an earlier write may have failed, with nothing left to flush */
    if (p->e->code == ERR_NONE && (fflush(stdout) != 0 || ferror(stdout)))
        err_set(p->e, ERR_FAILED, "cannot write to stdout: %s", strerror(errno ? errno : EIO));
}

/* Returns true for options that print an answer. The words after such an option are ignored. */
static bool is_answer(int key)
{
    return key == 'h' || key == KEY_HELP || key == 'V' || key == KEY_USAGE || key == KEY_GENERATE;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        p->o->inputs.argument = state->argv + state->next;
        p->o->inputs.count = (size_t)(state->argc - state->next);
        return 0;
    case 'q': p->level = LOG_ERROR; return 0;
    case 'v': p->level = p->level < LOG_VERBOSE ? LOG_VERBOSE : LOG_DEBUG; return 0;
    case 'r': p->o->inputs.recursive = true; return 0;
    case KEY_ANY: p->o->inputs.any = true; return 0;
    case KEY_JOIN: p->o->inputs.join = true; return 0;
    case KEY_NO_JOIN: p->o->inputs.no_join = true; return 0;
    case KEY_PLAYLISTS: p->o->inputs.playlists = true; return 0;
    case KEY_SEQUENCE: p->o->inputs.sequence = true; return 0;
    case KEY_UPDATE: p->o->outputs.update = true; return 0;
    case KEY_STRICT: p->o->outputs.strict = true; return 0;
    case KEY_KEEP_GOING: p->o->film.keep_going = true; return 0;
    case KEY_OVERWRITE: p->o->outputs.overwrite = true; return 0;
    case KEY_VERIFY: p->o->film.verify = true; return 0;
    case KEY_KEYFRAMES: p->o->film.selection.keyframes = true; return 0;
    case KEY_NO_RACE: p->o->kmeans.race = false; return 0;
    case KEY_BARE: p->o->poster.style.bare = true; return 0;
    default: break;
    }
    if (is_answer(key)) {
        answer(p, key, arg, state);
        return ECANCELED;
    }
    if (key >= CACHE_OPTION_FOLDER && key < CACHE_OPTION_END)
        return cache_options_set(&p->o->cache, key, arg, p->e) ? 0 : EINVAL;
    if (key == ARGP_KEY_ARG || !cli_find_key(cli_option_table, key))
        return ARGP_ERR_UNKNOWN; /* argp handles it */
    return option_value(p, key, arg) ? 0 : EINVAL;
}

/*
 * Supplies the help text of -m and suppresses argp's note about short options, whose arguments are
 * never optional here. argp frees a result that is not `text`.
 */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key == 'm')
        return cli_modes_help();
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : text ? strdup(text) : NULL;
}

static const struct argp parser = {
    .options = cli_option_table,
    .parser = parse_option,
    .args_doc = "FILM|FOLDER...",
    .doc = "Makes a movie barcode: one picture of a film's colours, a column for every sampled "
           "frame. FILM may be - for stdin. Defaults are in parentheses.\v"
           "Commands: barcode align A B compares two versions of a film, barcode find CLIP LIBRARY "
           "finds a clip's film (barcode align --help).",
    .help_filter = help_filter};

/*
 * Checks the size of the picture as far as it is known without the film. With one pixel per column
 * the film determines the width.
 */
static bool check_pixels(const struct options *o, struct err *e)
{
    if (outputs_are_posters(o))
        return true; /* cli_finalize_picture checks the page */
    uint64_t width = o->picture.width > 0                       ? (uint64_t)o->picture.width
                     : o->film.selection.kind == SELECT_COLUMNS ? o->film.selection.columns
                                                                : 1;
    uint64_t height = (uint64_t)o->picture.height * (o->picture.stacked ? o->picture.strips : 1);
    return width * height <= PAINT_PIXELS_MOST ||
           err_set(e, ERR_USAGE,
                   "a picture of %llux%llu is too large (at most %llu pixels); give a smaller "
                   "--width or --height",
                   (unsigned long long)width, (unsigned long long)height,
                   (unsigned long long)PAINT_PIXELS_MOST);
}

/* Rejects options of outputs that are not requested: --csv-columns, --trickplay-width. */
static bool check_outputs(const struct parse *p)
{
    const struct options *o = p->o;
    bool table = outputs_format(o)->table, beside = false;
    for (size_t i = 0; i < o->outputs.extras; i++) {
        table |= o->outputs.extra[i].writer->table;
        beside |= o->outputs.extra[i].writer->beside != NULL;
    }
    if (o->formats.csv_columns.count > 0 && !table)
        return err_set(p->e, ERR_USAGE, "--csv-columns applies to --csv; add --csv FILE");
    return !p->previews || beside ||
           err_set(p->e, ERR_USAGE, "%s applies to --trickplay; add --trickplay KIND", p->previews);
}

/* Checks combinations of options. */
static bool check_together(const struct parse *p)
{
    const struct options *o = p->o;
    if (o->inputs.count > 0 && cache_options_action(&o->cache))
        return err_set(p->e, ERR_USAGE,
                       "--cache-stats, --cache-verify and --cache-clear take no FILM");
    if (o->inputs.count == 0 && !cache_options_action(&o->cache))
        return err_set(p->e, ERR_USAGE,
                       "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    if (p->rule[SELECT_EVERY] + p->rule[SELECT_INTERVAL] + p->rule[SELECT_COLUMNS] > 1)
        return err_set(p->e, ERR_USAGE,
                       "--every, --interval and --columns exclude each other; give one");
    if (o->inputs.join && (o->inputs.no_join || o->inputs.sequence))
        return err_set(p->e, ERR_USAGE, "--join and %s exclude each other",
                       o->inputs.no_join ? "--no-join" : "--sequence");
    if (o->film.verify && o->film.selection.keyframes)
        return err_set(
            p->e, ERR_USAGE,
            "--verify and --keyframes exclude each other: key frames are decoded in only one way");
    if (p->end && o->film.selection.start_us >= o->film.selection.end_us)
        return err_set(p->e, ERR_USAGE, "--start %s is not before --end %s",
                       p->start ? p->start : "0", p->end);
    if (!check_outputs(p) || !cli_check_live(o, p->e))
        return false;
    int on_stdout = (o->outputs.path && outputs_is_stdout(o->outputs.path)) +
                    (o->outputs.dump && outputs_is_stdout(o->outputs.dump)) +
                    (o->outputs.report && outputs_is_stdout(o->outputs.report));
    for (size_t i = 0; i < o->outputs.extras; i++)
        on_stdout += outputs_is_stdout(o->outputs.extra[i].path);
    if (on_stdout > 1)
        return err_set(p->e, ERR_USAGE,
                       "stdout can carry only one of -o -, --html -, --json -, --csv -, --swatches "
                       "-, --landmarks -, --spectrogram -, --dump -, --report - and --bench");
    return cli_finalize_picture(p->o, p->e) && check_pixels(o, p->e) &&
           cli_finalize_slit(p->o, p->sized, p->e);
}

enum cli_result cli_parse(int argc, char **argv, struct options *o, struct err *e)
{
    *o = (struct options){
        .picture.strip = {strip_table[0]},
        .picture.strips = 1,
        .kmeans =
            {.k = 8, .n_init = 20, .max_iter = 300, .init = INIT_SCALABLE, .seed = 0, .race = true},
        .film.selection = {.kind = SELECT_EVERY, .end_us = INT64_MAX},
        .formats.previews = {.width = PREVIEWS_WIDTH, .interval_us = PREVIEWS_INTERVAL_US},
        .film.size = {.kind = SIZE_SIDE, .side = 320},
        .picture.colours = FILM_PALETTE_USUAL,
        .picture.slit = {.x = SLIT_X_USUAL},
        .film.stream = SOURCE_STREAM_CHOICE,
        .film.sound_stream = SOURCE_STREAM_CHOICE,
        .live.timeout_us = 10000000,
        .cache = cache_options_default()};
    struct parse p = {.o = o, .e = e, .level = LOG_INFO};
    if (!cli_check_words(cli_option_table, is_answer, argc, argv, e))
        return CLI_BAD;
    error_t failed =
        argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p);
    if (p.answered)
        return e->code == ERR_NONE ? CLI_DONE : CLI_BAD;
    if (failed) {
        if (failed == ENOMEM)
            err_memory(e, (size_t)argc * sizeof(char *));
        else if (e->code == ERR_NONE)
            err_set(e, ERR_USAGE, "cannot parse the command line; see --help");
        return CLI_BAD;
    }
    for (size_t i = 0; i < writer_count; i++) {
        if (p.extra[i])
            o->outputs.extra[o->outputs.extras++] =
                (struct options_extra){writer_table[i], p.extra[i]};
    }
    cli_finalize_modes(o);
    if (!check_together(&p))
        return CLI_BAD;
    log_set_level(p.level);
    return CLI_RUN;
}
