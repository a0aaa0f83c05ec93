#include "cli.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "barcode/engine/engine.h"
#include "base/file.h"
#include "base/version.h"
#include "media/ffmpeg/ffmpeg.h"
#include "output/writer.h"
#include "cli_rows.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

enum {
    KEYS = 256, /* argp's keys of options without a letter begin here */
    /* headings, and the end of the table */
    ARGP_ROWS_MOST = CLI_ROWS_MOST + OPTION_GROUPS + 1,
    HELP_WHOLE = ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC
};

/* The headings of --help. */
static const char *const headings[OPTION_GROUPS] = {
    [OPTION_FILMS] = "Films:",
    [OPTION_PICTURE] = "Picture:",
    [OPTION_POSTER] = "Posters (-o FILE.pdf, FILE.svg, or --poster):",
    [OPTION_COLOURS] = "Colours:",
    [OPTION_FRAMES] = "Frames:",
    [OPTION_OUTPUTS] = "Other outputs (without a picture, unless -o is given):",
    [OPTION_LIVE] = "Live (FILM is a URL, a device, a folder of pictures, or -):",
    [OPTION_CACHE] = "Cache of analysed frames:",
    [OPTION_RUN] = "Run:",
    [OPTION_EXPERTS] = "For experts:",
};

/* argp prints the text before \v above the options, and the rest below them. */
static const char short_doc[] =
    "Makes a movie barcode: one picture of a film's colours, a column for every sampled frame. "
    "Defaults are in parentheses.\v"
    "Examples:\n"
    "  barcode film.mkv --width 1200 --height 630 -o card.png\n"
    "  barcode film.mkv -m palette -o poster.pdf --page A2 --title 'My Film'\n"
    "  barcode -r films/ -o pictures/ --update\n"
    "\n"
    "barcode --help lists all options, man barcode describes them. barcode align --help and "
    "barcode find --help: films compared by their sound.";

static const char whole_doc[] =
    "Makes a movie barcode: one picture of a film's colours, a column for every sampled "
    "frame. FILM may be - for stdin. Defaults are in parentheses.\v"
    "Commands: barcode align A B compares two versions of a film, barcode find CLIP LIBRARY "
    "finds a clip's film (barcode align --help).";

/* ---- What is wrong with a word ---- */

enum {
    ANSWERED = 1 << 20, /* "all remaining words" as a number of words */
    NAMES_MOST = 4,     /* of names in a suggestion */
    COMMON_LEAST = 3    /* letters in common with a suggestion, unless the word abbreviates it */
};

/* Options of other programs, such as ffmpeg and zstd, that users may type by habit. */
static const struct habit {
    const char *word, *hint;
} habits[] = {
    {"-i", "name the FILM without an option"},
    {"-y", "did you mean --overwrite?"},
    {"-f", "did you mean --overwrite?"},
    {"--force", "did you mean --overwrite?"},
    {"-ss", "did you mean --start?"},
    {"-to", "did you mean --end?"},
    {"-T", "did you mean --threads?"},
    {"-c", "did you mean -o -?"},
    {"--no-progress", "did you mean --progress never?"},
    {"--format", "the ending of the name selects the format: -o film.jpg, --name '{stem}.jpg'"},
    {"--quality", "a JPEG has quality 92, a WebP is lossless"},
    {"--fps", "did you mean --interval?"},
    {"--ring", "did you mean --shape ring?"},
    {"--palette", "did you mean -m palette, or --swatches?"},
    {"--resolution", "did you mean --width and --height?"},
};

struct check {
    struct cli_rows *rows;
    struct err *e;
};

static const char *find_habit(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strlen(habits[i].word) == length && memcmp(habits[i].word, word, length) == 0)
            return habits[i].hint;
    }
    return NULL;
}

/* Returns how many leading letters are equal. */
static size_t count_common(const char *a, const char *b, size_t length)
{
    size_t n = 0;
    while (n < length && a[n] == b[n])
        n++;
    return n;
}

/*
 * Writes the option names with the longest common beginning with `name` into text[size]. Returns
 * false if there are none, or too many.
 */
static bool list_similar(const struct cli_rows *rows, const char *name, size_t length, char *text,
                         size_t size)
{
    size_t best = 0, hits = 0, used = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *t = &rows->at[i].row;
        size_t common = t->name && !t->hidden ? count_common(t->name, name, length) : 0;
        if (common < best || common == 0 || (common < length && common < COMMON_LEAST))
            continue;
        if (common > best)
            hits = used = 0;
        best = common;
        if (hits < NAMES_MOST)
            used +=
                (size_t)snprintf(text + used, size - used, "%s--%s", hits > 0 ? ", " : "", t->name);
        hits++;
    }
    return hits > 0 && hits <= NAMES_MOST;
}

static int fail_long(const struct check *check, const char *word, size_t length)
{
    char names[NAMES_MOST * 20];
    const char *name = word + 2, *hint = find_habit(word, length + 2);
    if (hint)
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; %s", (int)length + 2, word, hint);
    else if (length == 1 && cli_row_by_letter(check->rows, *name))
        err_set(check->e, ERR_USAGE, "unknown option '--%c'; did you mean -%c?", *name, *name);
    else if (list_similar(check->rows, name, length, names, sizeof names))
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; did you mean %s?", (int)length + 2,
                word, names);
    else
        err_set(check->e, ERR_USAGE, "unknown option '%.*s'; see --help", (int)length + 2, word);
    return 0;
}

/* Returns true for a number or a picture's ending, if no film has that name. */
static bool is_value(const char *word)
{
    char ending[8];
    snprintf(ending, sizeof ending, ".%s", word);
    return (!word[strspn(word, "0123456789")] ||
            (isalpha((unsigned char)*word) && writer_by_ending(ending))) &&
           *word && access(word, F_OK) != 0;
}

/* Rejects "--poster png" and "--steady 20": an optional value follows "=". */
static bool check_optional(const struct check *check, const struct option_row *t, const char *next)
{
    return !t->arg || option_takes_next(t) || !next || !is_value(next) ||
           err_set(check->e, ERR_USAGE, "'%s' does not exist; a value of --%s follows '=': --%s=%s",
                   next, t->name, t->name, next);
}

/* Checks "--name[=value]". Returns how many words the option uses, or 0 with ERR_USAGE. */
static int check_long(const struct check *check, const char *word, const char *next)
{
    size_t length = strcspn(word + 2, "=");
    bool value = word[2 + length] == '=';
    const struct cli_row *found = cli_row_by_name(check->rows, word + 2, length);
    if (!found)
        return fail_long(check, word, length);
    const struct option_row *t = &found->row;
    if (value && !t->arg)
        return err_set(check->e, ERR_USAGE, "--%s takes no value", t->name);
    if (option_takes_next(t) && !value && !next)
        return err_set(check->e, ERR_USAGE, "--%s needs a value: %s", t->name, t->arg);
    if (!value && !check_optional(check, t, next))
        return 0;
    if (t->group == OPTION_ANSWER)
        return ANSWERED;
    return option_takes_next(t) && !value ? 2 : 1;
}

static int fail_short(const struct check *check, char letter)
{
    char word[] = {'-', letter, 0};
    const char *hint = find_habit(word, 2);
    return err_set(check->e, ERR_USAGE, "unknown option '%s'; %s", word,
                   hint ? hint : "see --help");
}

/*
 * Checks "-abc" as check_long does. Rejects a long option behind one dash, as in ffmpeg: -output
 * would mean -o utput.
 */
static int check_short(const struct check *check, const char *word, bool last)
{
    size_t length = strcspn(word + 1, "=");
    const char *hint = length > 1 ? find_habit(word, length + 1) : NULL;
    const struct cli_row *first = cli_row_by_letter(check->rows, word[1]);
    bool answer = first && first->row.group == OPTION_ANSWER;
    if (!answer && length > 1 && cli_row_by_name(check->rows, word + 1, length))
        return err_set(check->e, ERR_USAGE, "unknown option '%.*s'; did you mean -%.*s?",
                       (int)length + 1, word, (int)length + 1, word);
    if (hint)
        return err_set(check->e, ERR_USAGE, "unknown option '%s'; %s", word, hint);
    for (const char *c = word + 1; *c; c++) {
        const struct cli_row *found = cli_row_by_letter(check->rows, *c);
        if (!found)
            return fail_short(check, *c);
        const struct option_row *t = &found->row;
        if (t->group == OPTION_ANSWER)
            return ANSWERED;
        if (t->arg && c[1])
            return 1;
        if (t->arg && last)
            return err_set(check->e, ERR_USAGE, "-%c needs a value: %s", *c, t->arg);
        if (t->arg)
            return 2;
    }
    return 1;
}

/*
 * Returns true if every option of argv is in the list, is not abbreviated, and has a value if it
 * needs one. Otherwise returns false with ERR_USAGE and a suggestion: getopt would accept
 * abbreviations, and argp only reports that some word is bad. The words behind OPTION_ANSWER are
 * not checked.
 */
static bool check_words(struct cli_rows *rows, int argc, char **argv, struct err *e)
{
    const struct check check = {rows, e};
    for (int i = 1, step = 1; i < argc && strcmp(argv[i], "--") != 0; i += step) {
        bool last = i + 1 == argc;
        if (strncmp(argv[i], "--", 2) == 0)
            step = check_long(&check, argv[i], argv[i + 1]);
        else
            step = argv[i][0] == '-' && argv[i][1] ? check_short(&check, argv[i], last) : 1;
        if (step == 0)
            return false;
    }
    return true;
}

/* ---- argp ---- */

/* The state of parsing, while argp walks the words. */
struct parse {
    struct cli_rows rows;
    const struct cli_command *command;         /* NULL: films */
    const struct cli_command *const *commands; /* of completions */
    struct options *o;
    struct err *e;
    bool answered; /* a row of OPTION_ANSWER was given */
};

static const char *heading_of(const struct parse *p, int group)
{
    if (p->command && group != OPTION_RUN)
        return p->command->heading[group];
    return headings[group];
}

/* Writes the rows as argp's table, with headings; with `common` only those of -h, without. */
static void fill_table(const struct parse *p, bool common, struct argp_option table[ARGP_ROWS_MOST])
{
    size_t count = 0;
    int last = 0;
    for (size_t i = 0; i < p->rows.count; i++) {
        const struct option_row *row = &p->rows.at[i].row;
        int group = row->group == OPTION_ANSWER ? -1 : (int)row->group;
        if (common && row->common == TASK_NONE)
            continue;
        if (!common && group != last && group > 0 && heading_of(p, group))
            table[count++] = (struct argp_option){.doc = heading_of(p, group), .group = group};
        last = group;
        table[count++] = (struct argp_option){
            .name = row->name,
            .key = row->letter ? row->letter : KEYS + (int)i,
            .arg = row->arg,
            .flags = (row->optional ? OPTION_ARG_OPTIONAL : 0) | (row->hidden ? OPTION_HIDDEN : 0),
            .doc = row->help,
            .group = common && group > 0 ? (int)row->common : group};
    }
    table[count] = (struct argp_option){0};
}

/* Returns the option of argp's key, or NULL. */
static struct cli_row *find_key(struct parse *p, int key)
{
    if (key >= KEYS && (size_t)(key - KEYS) < p->rows.count)
        return &p->rows.at[key - KEYS];
    return key > 0 && key < KEYS ? cli_row_by_letter(&p->rows, (char)key) : NULL;
}

/* ---- Answers ---- */

/*
 * Prints `barcode VERSION`, then a line each for FFmpeg, dav1d, CUDA (if built in) and the
 * compiler.
 */
static void print_version(void)
{
    char libraries[512];
    libraries_describe(libraries, sizeof libraries);
    printf("barcode " BARCODE_VERSION "\n%s", libraries);
#ifdef BARCODE_CUDA
    printf("CUDA %d.%d\n", engine_cuda.toolkit / 1000, engine_cuda.toolkit % 1000 / 10);
#endif
    fputs("compiler " COMPILER "\n", stdout);
}

/* Prints the usage, the most useful options and three examples. */
static void print_short_help(const struct parse *p, const struct argp_state *state)
{
    struct argp_option common[ARGP_ROWS_MOST];
    struct argp shown = *state->root_argp;
    struct argp_state answered = *state; /* argp calls help_filter only if it has a state */
    fill_table(p, true, common);
    shown.options = common;
    shown.doc = short_doc;
    answered.root_argp = &shown;
    argp_state_help(&answered, stdout, HELP_WHOLE);
}

/* Prints the answer to an option of OPTION_ANSWER. argp prints nothing with ARGP_NO_ERRS. */
static void answer(struct parse *p, const struct option_row *row, const char *arg,
                   struct argp_state *state)
{
    char name[32] = "barcode";
    const char *what = row->name ? row->name : "";
    if (p->command)
        snprintf(name, sizeof name, "barcode %s", p->command->name);
    state->name = name;
    state->flags &= ~(unsigned)ARGP_NO_ERRS;
    p->answered = true;
    errno = 0;
    if (strcmp(what, "version") == 0)
        print_version();
    else if (strcmp(what, "generate") == 0)
        cli_write_completions(arg, p->commands, stdout, p->e);
    else if (strcmp(what, "usage") == 0)
        argp_state_help(state, stdout, ARGP_HELP_USAGE);
    else if (strcmp(what, "help") == 0)
        argp_state_help(state, stdout, HELP_WHOLE);
    else
        print_short_help(p, state);
    /* an earlier write may have failed, with nothing left to flush */
    if (p->e->code == ERR_NONE)
        (void)file_end_stdout(stdout, true, p->e);
}

/* ---- Parsing ---- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    if (key == ARGP_KEY_ARGS) {
        p->o->plan.inputs.argument = state->argv + state->next;
        p->o->plan.inputs.count = (size_t)(state->argc - state->next);
        return 0;
    }
    struct cli_row *found = find_key(p, key);
    if (!found)
        return ARGP_ERR_UNKNOWN; /* argp handles it */
    if (found->row.group == OPTION_ANSWER) {
        answer(p, &found->row, arg, state);
        return ECANCELED;
    }
    if (found->row.kind == OPTION_KIND_PATH && found->given) {
        err_set(p->e, ERR_USAGE, "--%s is given twice, as '%s' and '%s'", found->row.name,
                found->given, arg);
        return EINVAL;
    }
    found->given = arg ? arg : "";
    return option_set(&found->row, found->options, arg, p->e) ? 0 : EINVAL;
}

/*
 * Supplies the help text of -m and suppresses argp's note about short options, whose arguments are
 * never optional here. argp frees a result that is not `text`.
 */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key == 'm')
        return picture_options_modes();
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE || !text ? NULL : strdup(text);
}

/* Parses all words into p->o, which has the defaults. */
static enum cli_result parse_words(struct parse *p, int argc, char **argv)
{
    const struct cli_command *c = p->command;
    struct argp_option table[ARGP_ROWS_MOST];
    const struct argp argp = {.options = table,
                              .parser = parse_option,
                              .args_doc = c ? c->args : "FILM|FOLDER...",
                              .doc = c ? c->doc : whole_doc,
                              .help_filter = help_filter};
    fill_table(p, false, table);
    if (!check_words(&p->rows, argc, argv, p->e))
        return CLI_BAD;
    error_t failed =
        argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, p);
    if (p->answered)
        return p->e->code == ERR_NONE ? CLI_DONE : CLI_BAD;
    if (failed == ENOMEM)
        err_memory(p->e, (size_t)argc * sizeof(char *));
    else if (failed && p->e->code == ERR_NONE)
        err_set(p->e, ERR_USAGE, "cannot parse the command line; see %s%s%s--help",
                c ? "barcode " : "", c ? c->name : "", c ? " " : "");
    return failed ? CLI_BAD : CLI_RUN;
}

int cli_usage(void)
{
    fputs("Usage: barcode [OPTION...] FILM|FOLDER...    one picture of a film's colours, FILM.png\n"
          "       barcode align A B, barcode find CLIP LIBRARY    films compared by their sound\n"
          "barcode -h shows the most useful options, barcode --help all of them.\n",
          stderr);
    return ERR_USAGE;
}

enum cli_result cli_parse(int argc, char **argv, const struct cli_command *const *commands,
                          struct options *o, struct err *e)
{
    struct parse p = {.commands = commands, .o = o, .e = e};
    cli_set_defaults(o);
    cli_rows_of_films(&p.rows, o);
    enum cli_result result = parse_words(&p, argc, argv);
    if (result != CLI_RUN)
        return result;
    if (!cli_check(o, &p.rows, e))
        return CLI_BAD;
    log_set_level(o->process.log);
    return CLI_RUN;
}

enum cli_result cli_parse_command(const struct cli_command *c, int argc, char **argv, void *own,
                                  struct options *o, struct err *e)
{
    struct parse p = {.command = c, .o = o, .e = e};
    cli_set_defaults(o);
    cli_rows_of_command(&p.rows, c, own, o);
    /* argv[1], the command's name, takes the place of argv[0] */
    enum cli_result result = parse_words(&p, argc - 1, argv + 1);
    if (result == CLI_RUN)
        log_set_level(o->process.log);
    return result;
}
