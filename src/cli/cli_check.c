/* cli_check.c - what options of several rooms say together. */
#include <string.h>

#include "cli_rows.h"
#include "output/poster/poster.h"
#include "plan/outputs.h"

enum {
    HEIGHT_USUAL = 800,
    STACKED_HEIGHT_USUAL = 360, /* of each mode */
    POSTER_HEIGHT_USUAL = 1080,
    EMBEDDED_MOST = 16384,
    RING_MOST = 16384
};

/* ---- Modes ---- */

/* Returns the pixels across the direction of time, at most: those of the page for a poster. */
static int pixels_across(const struct plan *plan)
{
    int width = plan->picture.width, height = plan->picture.height;
    if (outputs_are_posters(plan) && !outputs_format(plan)->page)
        paper_pixels(&plan->poster.page, plan->picture.shape, plan->poster.dpi, &width, &height);
    if (plan->picture.shape == SHAPE_RING)
        return (3 * (width < height ? width : height) + 9) / 10; /* shape.h */
    return plan->picture.shape == SHAPE_VERTICAL ? width : height;
}

/*
 * Sets the size of analysis frames that the modes need without --size. Rows that are drawn large
 * are analysed as high as they are drawn, unless another mode would cluster such frames.
 */
static bool complete_size(struct plan *plan, bool sized, struct err *e)
{
    unsigned needs = strips_need((struct strips){plan->picture.strip, plan->picture.strips});
    if (plan->picture.slit.angle != 0 && !(needs & STRIP_SLIT))
        return err_set(e, ERR_USAGE, "--rotate applies to the mode slit; add -m slit");
    if (sized)
        return true;
    const int across = pixels_across(plan);
    const bool large = outputs_are_posters(plan) || across > HEIGHT_USUAL;
    if (needs & STRIP_SLIT)
        plan->film.size = (struct size_rule){.kind = SIZE_ROWS,
                                             .side = plan->picture.shape == SHAPE_VERTICAL
                                                         ? plan->picture.width
                                                         : plan->picture.height};
    else if ((needs & STRIP_ROWS) && !(needs & (STRIP_CLUSTERS | STRIP_DOMINANT)) && large)
        plan->film.size.height = across;
    return true;
}

/* Sets what follows from the modes: plan->picture.computed, and whether k-means may race. */
static void complete_modes(struct plan *plan)
{
    struct strips asked = {plan->picture.strip, plan->picture.strips};
    unsigned needs = strips_need(asked);
    plan->kmeans.race = plan->kmeans.race && !strips_forbid_race(asked);
    plan->picture.computes = 0;
    for (size_t i = 0; i < plan->picture.strips; i++)
        plan->picture.computed[plan->picture.computes++] = plan->picture.strip[i];
    for (size_t i = 0; i < strip_count; i++) {
        bool selected = false;
        for (size_t k = 0; k < plan->picture.strips; k++)
            selected |= plan->picture.strip[k] == strip_table[i];
        if (!selected && (strip_table[i]->needs & ~needs) == 0)
            plan->picture.computed[plan->picture.computes++] = strip_table[i];
    }
}

/* ---- Pictures ---- */

/* Rejects options for posters if the output is none. */
static bool check_plain(const struct plan *plan, struct err *e)
{
    const struct {
        bool given;
        const char *name;
    } only[] = {
        {plan->poster.page.given, "--page"},
        {plan->poster.dpi > 0, "--dpi"},
        {plan->poster.title && !plan->picture.stacked, "--title"},
        {plan->poster.style.subtitle, "--subtitle"},
        {plan->poster.style.bare, "--bare"},
        {plan->poster.style.font && !plan->picture.stacked, "--font"},
        {plan->poster.style.live_text, "--svg-text"},
    };
    if (!plan->poster.page.given && plan->poster.dpi > 0)
        return err_set(e, ERR_USAGE, "--dpi is for posters of pixels: give --poster");
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (only[i].given)
            return err_set(
                e, ERR_USAGE,
                "%s is for posters: give -o a name that ends in .pdf or .svg, or --poster",
                only[i].name);
    return true;
}

static bool check_poster(const struct plan *plan, struct err *e)
{
    const struct writer *w = outputs_format(plan);
    int width, height;
    if (!w->page && !w->pixels)
        return err_set(e, ERR_USAGE,
                       "--poster: '%s' is not a poster's name; use .png, .jpg, .webp, .svg or .pdf",
                       plan->outputs.path);
    if (plan->poster.style.live_text && strcmp(w->name, "svg") != 0)
        return err_set(e, ERR_USAGE, "--svg-text is for posters in SVG, not in %s", w->title);
    if (plan->poster.format && w != plan->poster.format)
        return err_set(e, ERR_USAGE, "--poster=%s and -o '%s' are different formats; give only one",
                       plan->poster.format->name, plan->outputs.path);
    if (w->page && plan->poster.dpi > 0)
        return err_set(
            e, ERR_USAGE,
            "--dpi is for a poster of pixels: %s keeps the strip's own pixels (--width, --height)",
            w->title);
    if (w->page && (plan->picture.width > EMBEDDED_MOST || plan->picture.height > EMBEDDED_MOST))
        return err_set(e, ERR_USAGE,
                       "the strip of a poster in %s is at most %d pixels wide and high; give a "
                       "smaller --width or --height",
                       w->title, EMBEDDED_MOST);
    if (w->page)
        return true;
    if (plan->picture.width > 0 || plan->picture.height > 0)
        return err_set(e, ERR_USAGE,
                       "a poster in %s is as large as its page: give --page and --dpi, and no "
                       "--width or --height",
                       w->title);
    if (plan->poster.page.pixels && plan->poster.dpi > 0)
        return err_set(e, ERR_USAGE, "--dpi: a page of %dx%d pixels has no inches",
                       plan->poster.page.width, plan->poster.page.height);
    paper_pixels(&plan->poster.page, plan->picture.shape,
                 plan->poster.dpi > 0 ? plan->poster.dpi : PAPER_DPI_USUAL, &width, &height);
    if ((uint64_t)width * (uint64_t)height > PAINT_PIXELS_MOST)
        return err_set(e, ERR_USAGE,
                       "a poster of %dx%d pixels is too large (at most %llu in all); give a "
                       "smaller --page or --dpi",
                       width, height, (unsigned long long)PAINT_PIXELS_MOST);
    return true;
}

static bool check_shape(const struct plan *plan, struct err *e)
{
    if (plan->picture.shape != SHAPE_STRIP && plan->picture.stacked)
        return err_set(
            e, ERR_USAGE,
            "--shape %s: -m all and + stack modes in one picture; name the modes, separated by "
            "commas, for a picture each",
            strip_shape_name(plan->picture.shape));
    if (plan->picture.shape != SHAPE_RING)
        return true;
    if (plan->picture.width > 0 && plan->picture.height > 0 &&
        plan->picture.width != plan->picture.height)
        return err_set(
            e, ERR_USAGE,
            "--shape ring: a ring is as wide as it is high; give one of --width and --height");
    if (plan->picture.width > RING_MOST || plan->picture.height > RING_MOST)
        return err_set(e, ERR_USAGE, "--shape ring: at most %d pixels", RING_MOST);
    return true;
}

/* Checks --background. A ring in a format without transparency is on white. */
static bool finalize_background(struct plan *plan, bool poster, struct err *e)
{
    static const uint8_t white[3] = {255, 255, 255};
    bool ring = plan->picture.shape == SHAPE_RING && !poster;
    if (plan->poster.style.has_background && !poster && !ring && !plan->picture.stacked)
        return err_set(e, ERR_USAGE,
                       "--background is for posters, for --shape ring and for stacked modes: a "
                       "strip fills its picture");
    if (ring && outputs_format(plan)->opaque && !plan->poster.style.has_background) {
        memcpy(plan->poster.style.background, white, 3);
        plan->poster.style.has_background = true;
    }
    return true;
}

/* Checks the sides that are known without the film against the limit of the format. */
static bool check_sides(const struct plan *plan, bool poster, struct err *e)
{
    const struct writer *w = outputs_format(plan);
    int width = plan->picture.width, height = plan->picture.height;
    if (!w->pixels || w->side_most == 0)
        return true;
    if (poster)
        paper_pixels(&plan->poster.page, plan->picture.shape, plan->poster.dpi, &width, &height);
    else if (plan->film.selection.kind == SELECT_COLUMNS && plan->picture.shape == SHAPE_STRIP &&
             width == 0)
        width = (int)plan->film.selection.columns;
    else if (plan->film.selection.kind == SELECT_COLUMNS && plan->picture.shape == SHAPE_VERTICAL &&
             height == 0)
        height = (int)plan->film.selection.columns;
    if (width > w->side_most || height > w->side_most)
        return err_set(e, ERR_USAGE, "a %s is at most %d pixels wide and high; give a smaller %s",
                       w->title, w->side_most,
                       poster ? "--page or --dpi"
                              : "--width or --height, or a name that ends in .png");
    return true;
}

/* Sets the sides that no option gives. A circle is as wide as it is high. */
static void complete_sides(struct picture_options *o, bool page)
{
    if (o->shape == SHAPE_RING) {
        int side = page ? 2 * POSTER_HEIGHT_USUAL : POSTER_HEIGHT_USUAL;
        if (o->height > 0)
            side = o->height;
        if (o->width > 0)
            side = o->width;
        o->width = o->height = side;
        return;
    }
    int across = o->stacked ? STACKED_HEIGHT_USUAL : HEIGHT_USUAL;
    if (page)
        across = POSTER_HEIGHT_USUAL;
    int *side = o->shape == SHAPE_VERTICAL ? &o->width : &o->height;
    if (*side == 0)
        *side = across;
}

/* Without --colours, the film's palette has as many colours as a frame: -k. */
static void complete_colours(struct plan *plan)
{
    int k = plan->kmeans.k < FILM_PALETTE_MOST ? plan->kmeans.k : FILM_PALETTE_MOST;
    if (plan->picture.colours == 0)
        plan->picture.colours = k > FILM_PALETTE_LEAST ? k : FILM_PALETTE_LEAST;
}

static bool complete_picture(struct plan *plan, struct err *e)
{
    complete_colours(plan);
    bool poster = outputs_are_posters(plan);
    if (!(poster ? check_poster(plan, e) : check_plain(plan, e)))
        return false;
    if (!check_shape(plan, e) || !finalize_background(plan, poster, e))
        return false;
    plan->poster.dpi = plan->poster.dpi > 0 ? plan->poster.dpi : PAPER_DPI_USUAL;
    complete_sides(&plan->picture, outputs_format(plan)->page);
    return check_sides(plan, poster, e);
}

/* ---- Live ---- */

/* Returns an option that was given and does nothing for a stream; NULL: none. */
static const char *option_of_films(const struct plan *plan)
{
    const struct selection *s = &plan->film.selection;
    for (size_t i = 0; i < plan->outputs.extras; i++)
        if (strcmp(plan->outputs.extra[i].writer->name, "bench") != 0)
            return writer_option(plan->outputs.extra[i].writer);
    const struct {
        bool given;
        const char *name;
    } only[] = {
        {s->kind == SELECT_COLUMNS || plan->film.by_shot, "columns"},
        {plan->film.shots, "shots"},
        {s->kind == SELECT_INTERVAL, "interval"},
        {s->kind == SELECT_EVERY && s->every > 0, "every"},
        {s->start_us > 0, "start"},
        {s->end_us != INT64_MAX, "end"},
        {plan->outputs.dump, "dump"},
        {plan->outputs.report, "report"},
        {plan->film.verify, "verify"},
        {plan->inputs.sequence, "sequence"},
        {plan->inputs.join, "join"},
        {plan->outputs.update, "update"},
    };
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (only[i].given)
            return only[i].name;
    return NULL;
}

/* What a day, whose end is to come, cannot have. */
static bool check_day(const struct plan *plan, struct err *e)
{
    const char *name = option_of_films(plan);
    if (name)
        return err_set(e, ERR_USAGE, "--live: --%s is for films", name);
    for (size_t i = 0; i < plan->picture.strips; i++)
        if (plan->picture.strip[i]->needs & STRIP_SOUND)
            return err_set(e, ERR_USAGE, "--live: a stream's sound is not read: no -m %s",
                           plan->picture.strip[i]->name);
    if (plan->outputs.path && !outputs_names_folder(plan->outputs.path) &&
        writer_by_ending(plan->outputs.path))
        return err_set(e, ERR_USAGE, "--live: -o names the folder of the day's files, not a file");
    if (plan->picture.steady > 0 || plan->picture.smooth_us > 0)
        return err_set(e, ERR_USAGE,
                       "--live: --steady and --smooth need all columns of a film, also later ones");
    if (plan->picture.shape != SHAPE_STRIP || plan->poster.wanted)
        return err_set(e, ERR_USAGE, "--live: the picture of a day is a strip");
    return true;
}

static bool check_live(const struct plan *plan, const struct live_run_options *o, struct err *e)
{
    const bool to_stdout = plan->outputs.path && outputs_is_stdout(plan->outputs.path),
               shown = live_is_shown(o);
    if (o->column_us == 0 && shown)
        return err_set(e, ERR_USAGE, "--serve and --live-format need --live");
    if (o->column_us == 0)
        return true;
    if (!plan->outputs.path && !o->serve.given)
        return err_set(e, ERR_USAGE, "--live: give the folder of the day's files by -o DIR");
    if (to_stdout != (o->format != LIVE_FORMAT_NONE))
        return err_set(e, ERR_USAGE, "--live: -o - and --live-format rgb or jsonl belong together");
    if (shown && plan->inputs.count > 1)
        return err_set(e, ERR_USAGE, "--serve and --live-format show one stream");
    return check_day(plan, e);
}

/* ---- All ---- */

/*
 * Checks the size of the picture as far as it is known without the film. With one pixel per column
 * the film determines the width.
 */
static bool check_pixels(const struct plan *plan, struct err *e)
{
    if (outputs_are_posters(plan))
        return true; /* complete_picture checks the page */
    uint64_t width = 1;
    if (plan->picture.width > 0)
        width = (uint64_t)plan->picture.width;
    else if (plan->film.selection.kind == SELECT_COLUMNS)
        width = plan->film.selection.columns;
    uint64_t height =
        (uint64_t)plan->picture.height * (plan->picture.stacked ? plan->picture.strips : 1);
    if (width * height > PAINT_PIXELS_MOST)
        return err_set(e, ERR_USAGE,
                       "a picture of %llux%llu is too large (at most %llu pixels); give a smaller "
                       "--width or --height",
                       (unsigned long long)width, (unsigned long long)height,
                       (unsigned long long)PAINT_PIXELS_MOST);
    return true;
}

/* Rejects options of outputs that are not requested: --csv-columns, --trickplay-width. */
static bool check_outputs(const struct plan *plan, const struct cli_rows *rows, struct err *e)
{
    const char *previews = NULL;
    if (cli_given(rows, "trickplay-interval"))
        previews = "--trickplay-interval";
    if (cli_given(rows, "trickplay-width"))
        previews = "--trickplay-width";
    if (cli_given(rows, "trickplay-dir"))
        previews = "--trickplay-dir";
    bool table = outputs_format(plan)->table, beside = false, shots = false;
    for (size_t i = 0; i < plan->outputs.extras; i++) {
        table |= plan->outputs.extra[i].writer->table;
        beside |= plan->outputs.extra[i].writer->beside != NULL;
        shots |= plan->outputs.extra[i].writer->shots;
    }
    if (plan->formats.csv_columns.count > 0 && !table)
        return err_set(e, ERR_USAGE, "--csv-columns applies to --csv; add --csv FILE");
    if (plan->formats.drop_frame && !shots)
        return err_set(e, ERR_USAGE, "--drop-frame applies to --shot-list; add --shot-list FILE");
    if (previews && !beside)
        return err_set(e, ERR_USAGE, "%s applies to --trickplay; add --trickplay KIND", previews);
    return true;
}

/* Rejects two outputs on stdout. */
static bool check_stdout(const struct plan *plan, struct err *e)
{
    int on_stdout = (plan->outputs.path && outputs_is_stdout(plan->outputs.path)) +
                    (plan->outputs.dump && outputs_is_stdout(plan->outputs.dump)) +
                    (plan->outputs.report && outputs_is_stdout(plan->outputs.report));
    for (size_t i = 0; i < plan->outputs.extras; i++)
        on_stdout += outputs_is_stdout(plan->outputs.extra[i].path);
    if (on_stdout > 1)
        return err_set(
            e, ERR_USAGE,
            "stdout can carry only one of -o -, --html -, --json -, --csv -, --swatches "
            "-, --shot-list -, --landmarks -, --spectrogram -, --dump -, --report - and --bench");
    return true;
}

/* Finds shots for the outputs that show them. They need every frame. */
static bool complete_shots(struct plan *plan, struct err *e)
{
    plan->film.shots |= plan->film.by_shot;
    for (size_t i = 0; i < plan->outputs.extras; i++)
        plan->film.shots |= plan->outputs.extra[i].writer->shots;
    if (plan->film.shots && plan->film.selection.keyframes)
        return err_set(e, ERR_USAGE,
                       "--keyframes excludes --shots and what shows shots: they need every frame");
    return true;
}

bool cli_check(struct options *o, const struct cli_rows *rows, struct err *e)
{
    struct plan *plan = &o->plan;
    const char *start = cli_given(rows, "start"), *end = cli_given(rows, "end");
    int rules = (cli_given(rows, "every") != NULL) + (cli_given(rows, "interval") != NULL) +
                (cli_given(rows, "columns") && !plan->film.by_shot);
    complete_modes(plan);
    if (plan->inputs.count > 0 && cache_options_action(&plan->cache))
        return err_set(e, ERR_USAGE,
                       "--cache-stats, --cache-verify and --cache-clear take no FILM");
    if (plan->inputs.count == 0 && !cache_options_action(&plan->cache))
        return err_set(e, ERR_USAGE,
                       "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    if (rules > 1)
        return err_set(e, ERR_USAGE,
                       "--every, --interval and --columns exclude each other; give one");
    if (plan->inputs.join && (plan->inputs.no_join || plan->inputs.sequence))
        return err_set(e, ERR_USAGE, "--join and %s exclude each other",
                       plan->inputs.no_join ? "--no-join" : "--sequence");
    if (plan->film.verify && plan->film.selection.keyframes)
        return err_set(
            e, ERR_USAGE,
            "--verify and --keyframes exclude each other: key frames are decoded in only one way");
    if (!complete_shots(plan, e))
        return false;
    if (end && plan->film.selection.start_us >= plan->film.selection.end_us)
        return err_set(e, ERR_USAGE, "--start %s is not before --end %s", start ? start : "0", end);
    if (!check_outputs(plan, rows, e) || !check_live(plan, &o->live, e) || !check_stdout(plan, e))
        return false;
    if (!complete_picture(plan, e) || !check_pixels(plan, e))
        return false;
    return complete_size(plan, cli_given(rows, "size") != NULL, e);
}

bool cli_complete(struct options *o, struct err *e) { return cli_check(o, NULL, e); }
