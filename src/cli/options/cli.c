#include "barcode/cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/atomic_file.h"
#include "barcode/base/log.h"
#include "barcode/cli/outputs.h"
#include "barcode/output/paint.h"
#include "cli_explain.h"
#include "cli_help.h"
#include "cli_modes.h"
#include "cli_values.h"
#include "cli_version.h"
#include "completions.h"
#include "cli/inputs/inputs_names.h"

/* Options without a short letter. */
enum key {
    KEY_N_INIT = 256,
    KEY_INIT,
    KEY_MAX_ITER,
    KEY_SEED,
    KEY_INTERVAL,
    KEY_COLUMNS,
    KEY_START,
    KEY_END,
    KEY_STREAM,
    KEY_SIZE,
    KEY_WIDTH,
    KEY_HEIGHT,
    KEY_ENGINE,
    KEY_DECODE,
    KEY_THREADS,
    KEY_JSON,
    KEY_DUMP,
    KEY_PROGRESS,
    KEY_STRICT,
    KEY_VERIFY,
    KEY_BENCH,
    KEY_OVERWRITE,
    KEY_KEYFRAMES,
    KEY_STEADY,
    KEY_ORDER,
    KEY_CROP,
    KEY_TONE_MAP,
    KEY_HDR_PEAK,
    KEY_LIGHT,
    KEY_NO_RACE,
    KEY_ANY,
    KEY_UPDATE,
    KEY_REPORT,
    KEY_SHARD,
    KEY_POSTER,
    KEY_TITLE,
    KEY_PAGE,
    KEY_DPI,
    KEY_SHAPE,
    KEY_SMOOTH,
    KEY_HELP,
    KEY_USAGE,
    KEY_CSV,
    KEY_SWATCHES,
    KEY_THUMBNAILS,
    KEY_GENERATE,
    KEY_HTML,
    KEY_NAME
    /* then cache_options.h's, from CACHE_OPTION_FOLDER */
};

enum group {
    GROUP_FILMS = 1,
    GROUP_PICTURE,
    GROUP_POSTER,
    GROUP_COLOURS,
    GROUP_FRAMES,
    GROUP_OUTPUTS,
    GROUP_CACHE,
    GROUP_RUN
};

#ifdef BARCODE_CUDA
#define CUDA_WORD ", cuda[:N,...]"
#else
#define CUDA_WORD ""
#endif

/* Parsing, -h, --help and the man page all come from this table. */
static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "Films:", GROUP_FILMS},
    {"recursive", 'r', NULL, CLI_COMMON, "include subfolders, also for the outputs", 0},
    {"any", KEY_ANY, NULL, 0, "in a FOLDER, take files of any name (GIF, APNG)", 0},
    {"shard", KEY_SHARD, "I/N", 0, "do only share I (from 1) of N shares of the films", 0},
    {"update", KEY_UPDATE, NULL, CLI_COMMON, "skip films whose outputs exist and are up to date",
     0},

    {NULL, 0, NULL, 0, "Picture:", GROUP_PICTURE},
    {"output", 'o', "FILE|DIR", CLI_COMMON,
     "output file (.png, .pdf, .svg, .html), folder, "
     "or - for stdout (FILM.png in the working directory)",
     0},
    {"name", KEY_NAME, "PATTERN", 0, "file names in folders, made of {stem} and {mode}", 0},
    {"mode", 'm', "MODE[,MODE...]", CLI_COMMON, "", 0}, /* cli_modes_help has the text */
    {"width", KEY_WIDTH, "PX", CLI_COMMON, "width (one pixel per column)", 0},
    {"height", KEY_HEIGHT, "PX", CLI_COMMON, "height (360); with -m all, of each mode", 0},

    {"shape", KEY_SHAPE, "SHAPE", 0, "strip (default), circle or vertical", 0},
    {"smooth", KEY_SMOOTH, "TIME", 0, "even out changes shorter than about TIME", 0},

    {NULL, 0, NULL, 0, "Posters (-o FILE.pdf, FILE.svg, or --poster):", GROUP_POSTER},
    {"poster", KEY_POSTER, "FORMAT", OPTION_ARG_OPTIONAL | CLI_COMMON,
     "poster with title, axis, palette: png, svg, pdf", 0},
    {"title", KEY_TITLE, "TEXT", 0, "title (the film's title tag, or else its name)", 0},
    {"page", KEY_PAGE, "PAGE", 0,
     "A0 to A6, B0 to B6, Letter, A2-portrait, WxHmm, WxHin, WxH pixels (" PAPER_NAME ")", 0},
    {"dpi", KEY_DPI, "N", 0, "pixels per inch of a PNG poster (300)", 0},

    {NULL, 0, NULL, 0, "Colours:", GROUP_COLOURS},
    {"clusters", 'k', "N", CLI_COMMON, "clusters per frame, 1 to 64 (8)", 0},
    {"steady", KEY_STEADY, "PERCENT", OPTION_ARG_OPTIONAL | CLI_COMMON,
     "kmeans, dominant: remove flicker; 0 to 50 (10)", 0},
    {"order", KEY_ORDER, "ORDER", 0, "palette: order by lightness (default) or share", 0},
    {"n-init", KEY_N_INIT, "N", 0, "k-means restarts; the best is kept (20)", 0},
    {"no-race", KEY_NO_RACE, NULL, 0,
     "finish every restart, as scikit-learn does; palette and all always do", 0},
    {"init", KEY_INIT, "METHOD", 0, "seeding: scalable (default), k-means++, random", 0},
    {"max-iter", KEY_MAX_ITER, "N", 0, "limit of iterations per restart (300)", 0},
    {"seed", KEY_SEED, "N", 0, "random seed (0)", 0},
    {"size", KEY_SIZE, "SIZE", 0, "analysis size: WxH, longer SIDE, 1/D, full (320)", 0},
    {"crop", KEY_CROP, "RULE", 0, "crop black bars: auto (default), off, W:H:X:Y", 0},
    {"trim", KEY_CROP, "RULE", OPTION_HIDDEN, NULL, 0},
    {"tone-map", KEY_TONE_MAP, "CURVE", 0,
     "HDR to SDR: bt2390 (default), hable, reinhard, clip, off", 0},
    {"hdr-peak", KEY_HDR_PEAK, "NITS", 0, "HDR peak in cd/m2 (from the film, or 1000)", 0},
    {"light", KEY_LIGHT, "KIND", 0, "average code values (code, default) or light (linear)", 0},

    {NULL, 0, NULL, 0, "Frames:", GROUP_FRAMES},
    {"every", 'n', "N", 0, "use every Nth frame (24; less for a short film)", 0},
    {"interval", KEY_INTERVAL, "TIME", 0, "use a frame every TIME", 0},
    {"columns", KEY_COLUMNS, "N", 0, "use N frames, evenly spaced in time", 0},
    {"keyframes", KEY_KEYFRAMES, NULL, CLI_COMMON, "use key frames only: much faster, less exact",
     0},
    {"start", KEY_START, "TIME", CLI_COMMON, "begin at TIME: seconds or [HH:]MM:SS[.mmm]", 0},
    {"end", KEY_END, "TIME", CLI_COMMON, "stop before TIME", 0},
    {"stream", KEY_STREAM, "N", 0, "video stream N, from 0 (largest); -v lists them", 0},

    {NULL, 0, NULL, 0, "Other outputs (without a picture, unless -o is given):", GROUP_OUTPUTS},
    {"html", KEY_HTML, "FILE|DIR", CLI_COMMON,
     "write a page for a browser; DIR/index.html: a gallery", 0},
    {"json", KEY_JSON, "FILE|DIR", 0, "write every column's colours, counts and time", 0},
    {"csv", KEY_CSV, "FILE|DIR", CLI_COMMON, "write a row per column: time, colours, shares", 0},
    {"swatches", KEY_SWATCHES, "FILE|DIR", 0, "write the film's palette: .gpl, .ase, .css, .json",
     0},
    {"thumbnails", KEY_THUMBNAILS, "DIR", 0, "write thumbnail sheets and WebVTT for players", 0},
    {"dump", KEY_DUMP, "FILE|DIR", 0, "write the analysed frames as raw RGB24", 0},
    {"report", KEY_REPORT, "FILE", 0, "append a line of JSON per film", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, "also replace outputs of other films", 0},
    {"bench", KEY_BENCH, NULL, 0, "print stage times and rates to stdout as JSON", 0},

    {NULL, 0, NULL, 0, "Cache of analysed frames:", GROUP_CACHE},
    {"cache", CACHE_OPTION_FOLDER, "DIR", 0, "cache folder, - for none (~/.cache/barcode)", 0},
    {"no-cache", CACHE_OPTION_OFF, NULL, 0, "do not read or write the cache", 0},
    {"refresh", CACHE_OPTION_REFRESH, NULL, 0, "decode again and replace the cached frames", 0},
    {"cache-limit", CACHE_OPTION_LIMIT, "SIZE", 0, "limit of the cache (10G, less on a full disk)",
     0},
    {"cache-stats", CACHE_OPTION_STATS, NULL, 0, "list the cache; takes no FILM", 0},
    {"cache-verify", CACHE_OPTION_VERIFY, NULL, 0, "remove damaged entries; takes no FILM", 0},
    {"cache-clear", CACHE_OPTION_CLEAR, NULL, 0, "empty the cache; takes no FILM", 0},

    {NULL, 0, NULL, 0, "Run:", GROUP_RUN},
    {"engine", KEY_ENGINE, "NAME", 0, "cluster on: auto (default), cpu" CUDA_WORD, 0},
    {"decode", KEY_DECODE, "NAME", 0, "decode on: auto (default), cpu, nvdec", 0},
    {"threads", KEY_THREADS, "N", 0, "number of threads (one per core)", 0},
    {"jobs", 'j', "N", 0, "films at once (enough to keep the cores busy)", 0},
    {"progress", KEY_PROGRESS, "WHEN", 0, "auto (default: on a terminal), always, never", 0},
    {"strict", KEY_STRICT, NULL, 0, "fail if a film is decoded only in part", 0},
    {"verify", KEY_VERIFY, NULL, 0, "decode twice, in two ways, and compare all frames", 0},
    {"quiet", 'q', NULL, 0, "print errors only", 0},
    {"verbose", 'v', NULL, 0, "print more; twice for debugging", 0},

    {"generate", KEY_GENERATE, "KIND", 0, "print complete-bash, complete-zsh, complete-fish", -1},
    {NULL, 'h', NULL, CLI_COMMON, "show the most useful options", -1},
    {"help", KEY_HELP, NULL, CLI_COMMON, "show all options", -1},
    {"version", 'V', NULL, 0, "show the versions of barcode and its libraries", -1},
    {"usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, 0},
    {0}};

/* What the options have said so far, while argp walks the words. */
struct parse {
    struct options *o;
    struct err *e;
    const char *start, *end;       /* as given, for the sentence */
    bool rule[SELECT_COLUMNS + 1]; /* which of --every, --interval, --columns came */
    /* where to, for each writer of the table; NULL: not asked for */
    const char *extra[WRITERS_MOST];
    enum log_level level;
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
    *to = atomic_file_is_stdout(arg) ? "-" : arg; /* no other room has to know its other names */
    return true;
}

/* An output that has an option of its own; given again, the last one counts. One without a value
 * goes to stdout. */
static bool set_extra(struct parse *p, const struct writer *w, const char *arg)
{
    char name[32];
    size_t i = 0;
    while (writer_table[i] != w)
        i++;
    snprintf(name, sizeof name, "--%s", writer_option(w));
    if (w->folder && atomic_file_is_stdout(arg))
        return err_set(p->e, ERR_USAGE, "%s: '%s' is no folder", name, arg);
    return set_path(p, name, arg ? arg : "-", &p->extra[i]);
}

/* The ending says which format; a folder, or stdout, gets the first. Given with several endings, it
 * gives several files. */
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

static bool set_stream(struct parse *p, const char *arg)
{
    uint64_t value = 0;
    if (!set_u64(p, "--stream", arg, 0, 9999, &value))
        return false;
    p->o->stream = (int)value;
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
        p->o->progress = (enum progress_when)i;
        if (strcmp(arg, word[i]) == 0)
            return true;
    }
    return err_set(p->e, ERR_USAGE, "--progress: '%s' is not auto, always or never", arg);
}

/*
 * An option of the table without a case of its own is the writer's of that name. Cases come first,
 * so a writer that is named as one of them takes nothing away from it.
 */
static bool set_other(struct parse *p, int key, const char *arg)
{
    const struct argp_option *option = cli_find_key(table, key);
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
    case KEY_POSTER: return cli_parse_poster(arg, o, p->e);
    case KEY_TITLE: return cli_parse_title(arg, o, p->e);
    case KEY_PAGE: return cli_parse_page(arg, o, p->e);
    case KEY_DPI: return cli_parse_dpi(arg, o, p->e);
    default: return set_other(p, key, arg);
    }
}

static bool option_frames(struct parse *p, int key, const char *arg)
{
    struct selection *s = &p->o->selection;
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
    case KEY_START: p->start = arg; return set_time(p, "--start", arg, 0, &s->start_us);
    case KEY_END: p->end = arg; return set_time(p, "--end", arg, 0, &s->end_us);
    default: return option_layout(p, key, arg);
    }
}

static bool set_size(struct parse *p, const char *arg)
{
    return cli_parse_size(arg, &p->o->size) ||
           err_set(p->e, ERR_USAGE,
                   "--size: '%s' is not WxH, SIDE (1 to 16384), 1/D (1 to 1000) or full", arg);
}

static bool set_crop(struct parse *p, const char *arg)
{
    return cli_parse_crop(arg, &p->o->crop) ||
           err_set(p->e, ERR_USAGE, "--crop: '%s' is not auto, off or W:H:X:Y", arg);
}

static bool option_value(struct parse *p, int key, const char *arg)
{
    struct options *o = p->o;
    switch (key) {
    case 'o': return set_path(p, "-o", arg, &o->output);
    case KEY_NAME: return cli_parse_name(arg, o, p->e);
    case KEY_SHARD: return cli_parse_shard(arg, o, p->e);
    case KEY_REPORT: return set_path(p, "--report", arg, &o->report);
    case KEY_SWATCHES: return set_swatches(p, arg);
    case KEY_DUMP: return set_path(p, "--dump", arg, &o->dump);
    case 'm': return cli_parse_modes(arg, o, p->e);
    case KEY_WIDTH: return set_int(p, "--width", arg, OPTION_COLUMNS_MOST, &o->width);
    case KEY_HEIGHT: return set_int(p, "--height", arg, 65535, &o->height);
    case KEY_SIZE: return set_size(p, arg);
    case KEY_CROP: return set_crop(p, arg);
    case KEY_TONE_MAP: return cli_parse_tone_map(arg, o, p->e);
    case KEY_HDR_PEAK: return cli_parse_hdr_peak(arg, o, p->e);
    case KEY_LIGHT: return cli_parse_light(arg, o, p->e);
    case 'k': return set_int(p, "-k", arg, 64, &o->kmeans.k);
    case KEY_N_INIT: return set_int(p, "--n-init", arg, 1000, &o->kmeans.n_init);
    case KEY_STEADY: return cli_parse_steady(arg, o, p->e);
    case KEY_ORDER: return cli_parse_order(arg, o, p->e);
    case KEY_INIT: return set_init(p, arg);
    case KEY_MAX_ITER: return set_int(p, "--max-iter", arg, 100000, &o->kmeans.max_iter);
    case KEY_SEED: return set_u64(p, "--seed", arg, 0, UINT64_MAX, &o->kmeans.seed);
    case KEY_STREAM: return set_stream(p, arg);
    case KEY_THREADS: return set_int(p, "--threads", arg, 1024, &o->threads);
    case 'j': return set_int(p, "--jobs", arg, OPTION_JOBS_MOST, &o->jobs);
    case KEY_PROGRESS: return set_progress(p, arg);
    case KEY_ENGINE: return cli_parse_engine(arg, o, p->e);
    case KEY_DECODE: return cli_parse_decode(arg, o, p->e);
    default: return option_frames(p, key, arg);
    }
}

/* Prints what -h, --help, --generate and the like ask for. argp prints nothing with ARGP_NO_ERRS.
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
        completions_write(table, arg, stdout, p->e);
    else if (key == 'h')
        cli_print_short_help(state, stdout);
    else
        argp_state_help(state, stdout, key == KEY_HELP ? CLI_HELP_WHOLE : ARGP_HELP_USAGE);
    /* which may have come in the middle of it, and left nothing to flush */
    if (p->e->code == ERR_NONE && (fflush(stdout) != 0 || ferror(stdout)))
        err_set(p->e, ERR_FAILED, "cannot write to stdout: %s", strerror(errno ? errno : EIO));
}

/* The words behind these options are ignored. */
static bool is_answer(int key)
{
    return key == 'h' || key == KEY_HELP || key == 'V' || key == KEY_USAGE || key == KEY_GENERATE;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        p->o->input = state->argv + state->next;
        p->o->inputs = (size_t)(state->argc - state->next);
        return 0;
    case 'q': p->level = LOG_ERROR; return 0;
    case 'v': p->level = p->level < LOG_VERBOSE ? LOG_VERBOSE : LOG_DEBUG; return 0;
    case 'r': p->o->recursive = true; return 0;
    case KEY_ANY: p->o->any = true; return 0;
    case KEY_UPDATE: p->o->update = true; return 0;
    case KEY_STRICT: p->o->strict = true; return 0;
    case KEY_OVERWRITE: p->o->overwrite = true; return 0;
    case KEY_VERIFY: p->o->verify = true; return 0;
    case KEY_KEYFRAMES: p->o->selection.keyframes = true; return 0;
    case KEY_NO_RACE: p->o->kmeans.race = false; return 0;
    default: break;
    }
    if (is_answer(key)) {
        answer(p, key, arg, state);
        return ECANCELED;
    }
    if (key >= CACHE_OPTION_FOLDER && key < CACHE_OPTION_END)
        return cache_options_set(&p->o->cache, key, arg, p->e) ? 0 : EINVAL;
    if (key == ARGP_KEY_ARG || !cli_find_key(table, key))
        return ARGP_ERR_UNKNOWN; /* argp's own */
    return option_value(p, key, arg) ? 0 : EINVAL;
}

/*
 * The modes are those of the table of strips. argp's sentence about short options is noise here: no
 * short option's argument is optional. argp frees what is not `text`.
 */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key == 'm')
        return cli_modes_help();
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : text ? strdup(text) : NULL;
}

static const struct argp parser = {
    .options = table,
    .parser = parse_option,
    .args_doc = "FILM|FOLDER...",
    .doc = "Makes a movie barcode: one picture of a film's colours, a column for every sampled "
           "frame. FILM may be - for stdin. Defaults are in parentheses.",
    .help_filter = help_filter};

/* Checks only what is known before the film is: a picture with a pixel a column is as wide as the
 * film makes it. */
static bool check_pixels(const struct options *o, struct err *e)
{
    if (outputs_are_posters(o))
        return true; /* the page's pixels are counted with it */
    uint64_t width = o->width > 0                          ? (uint64_t)o->width
                     : o->selection.kind == SELECT_COLUMNS ? o->selection.columns
                                                           : 1;
    uint64_t height = (uint64_t)o->height * (o->stacked ? o->strips : 1);
    return width * height <= PAINT_PIXELS_MOST ||
           err_set(e, ERR_USAGE,
                   "a picture of %llux%llu is too large, %llu pixels are the most: give a smaller "
                   "--width or --height",
                   (unsigned long long)width, (unsigned long long)height,
                   (unsigned long long)PAINT_PIXELS_MOST);
}

/* Checks what depends on several options. */
static bool check_together(const struct parse *p)
{
    const struct options *o = p->o;
    if (o->inputs > 0 && cache_options_action(&o->cache))
        return err_set(p->e, ERR_USAGE,
                       "--cache-stats, --cache-verify and --cache-clear take no FILM");
    if (o->inputs == 0 && !cache_options_action(&o->cache))
        return err_set(p->e, ERR_USAGE,
                       "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    if (p->rule[SELECT_EVERY] + p->rule[SELECT_INTERVAL] + p->rule[SELECT_COLUMNS] > 1)
        return err_set(p->e, ERR_USAGE,
                       "--every, --interval and --columns exclude each other; give one");
    if (o->verify && o->selection.keyframes)
        return err_set(p->e, ERR_USAGE,
                       "--verify compares two ways of decoding, and --keyframes has only one; give "
                       "one of them");
    if (p->end && o->selection.start_us >= o->selection.end_us)
        return err_set(p->e, ERR_USAGE, "--start %s is not before --end %s",
                       p->start ? p->start : "0", p->end);
    int on_stdout = (o->output && outputs_is_stdout(o->output)) +
                    (o->dump && outputs_is_stdout(o->dump)) +
                    (o->report && outputs_is_stdout(o->report));
    for (size_t i = 0; i < o->extras; i++)
        on_stdout += outputs_is_stdout(o->extra[i].path);
    if (on_stdout > 1)
        return err_set(p->e, ERR_USAGE,
                       "stdout can carry only one of -o -, --html -, --json -, --csv -, --swatches "
                       "-, --dump -, --report - and --bench");
    return cli_finalize_picture(p->o, p->e) && check_pixels(o, p->e);
}

enum cli_result cli_parse(int argc, char **argv, struct options *o, struct err *e)
{
    *o = (struct options){
        .strip = {strip_table[0]},
        .strips = 1,
        .kmeans =
            {.k = 8, .n_init = 20, .max_iter = 300, .init = INIT_SCALABLE, .seed = 0, .race = true},
        .selection = {.kind = SELECT_EVERY, .end_us = INT64_MAX},
        .size = {.kind = SIZE_SIDE, .side = 320},
        .stream = SOURCE_STREAM_CHOICE,
        .cache = cache_options_default()};
    struct parse p = {.o = o, .e = e, .level = LOG_INFO};
    if (!cli_check_words(table, is_answer, argc, argv, e))
        return CLI_BAD;
    error_t failed =
        argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p);
    if (p.answered)
        return e->code == ERR_NONE ? CLI_DONE : CLI_BAD;
    if (failed) {
        if (failed == ENOMEM)
            err_memory(e, (size_t)argc * sizeof(char *));
        else if (e->code == ERR_NONE)
            err_set(e, ERR_USAGE, "the command line cannot be understood; see --help");
        return CLI_BAD;
    }
    for (size_t i = 0; i < writer_count; i++) {
        if (p.extra[i])
            o->extra[o->extras++] = (struct options_extra){writer_table[i], p.extra[i]};
    }
    cli_finalize_modes(o);
    if (!check_together(&p))
        return CLI_BAD;
    log_set_level(p.level);
    return CLI_RUN;
}
