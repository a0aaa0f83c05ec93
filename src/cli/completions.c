#include "completions.h"

#include <string.h>

#include "cli.h"
#include "output/poster/paper.h"
#include "output/modes/strip.h"

/* The kind of an option's value, derived from its placeholder in --help. */
enum value { VALUE_NONE, VALUE_FILE, VALUE_FOLDER, VALUE_WORDS, VALUE_OTHER };

#ifdef BARCODE_CUDA
#define CUDA_WORD " cuda"
#else
#define CUDA_WORD ""
#endif

static const struct words {
    const char *option, *words;
} words[] = {
    {"shape", "strip circle vertical"},
    {"svg-text", "outlines live"},
    {"trickplay", "jellyfin bif"},
    {"order", "lightness share"},
    {"init", "scalable k-means++ random"},
    {"size", "320 1/2 1/4 full"},
    {"crop", "auto off"},
    {"tone-map", "bt2390 hable reinhard clip off"},
    {"light", "code linear"},
    {"engine", "auto cpu" CUDA_WORD},
    {"decode", "auto cpu nvdec"},
    {"progress", "auto always never"},
    {"sandbox", "auto require off"},
    {"day", "utc local"},
    {"live-format", "rgb jsonl"},
    {"generate", "complete-bash complete-zsh complete-fish"},
};

static const char *mode_name(size_t i)
{
    return i < strip_count ? strip_table[i]->name : i == strip_count ? STRIP_ALL : NULL;
}

/* Returns all names, separated by blanks. */
static const char *join_names(const char *(*name)(size_t i))
{
    static _Thread_local char text[32 * (STRIPS_MOST + 1)];
    size_t used = 0;
    for (size_t i = 0; name(i) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", name(i));
    return text;
}

const char *completions_words(const char *option, bool *list)
{
    bool is_mode = strcmp(option, "mode") == 0;
    if (list)
        *list = is_mode || strcmp(option, "trickplay") == 0;
    if (is_mode)
        return join_names(mode_name);
    if (strcmp(option, "page") == 0)
        return join_names(paper_name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].option, option) == 0)
            return words[i].words;
    return "";
}

static enum value value_kind(const struct argp_option *o)
{
    if (!o->arg || o->flags & OPTION_ARG_OPTIONAL)
        return VALUE_NONE;
    if (*completions_words(o->name, NULL))
        return VALUE_WORDS;
    if (strstr(o->arg, "FILE"))
        return VALUE_FILE;
    return strstr(o->arg, "DIR") ? VALUE_FOLDER : VALUE_OTHER;
}

static bool is_shown(const struct argp_option *o) { return o->name && !(o->flags & OPTION_HIDDEN); }

/* Returns the option's letter, or 0 if it has none. */
static char letter_of(const struct argp_option *o)
{
    return o->key > 0 && o->key < 128 ? (char)o->key : 0;
}

/*
 * Returns the length of the description: the --help text up to its first ';', or up to the
 * parenthesis that contains it.
 */
static size_t text_length(const char *text)
{
    size_t end = strcspn(text, ";");
    const char *open = memrchr(text, '(', end);
    bool inside = text[end] && open && !memchr(open, ')', end - (size_t)(open - text));
    return inside && open > text ? (size_t)(open - text) - 1 : end;
}

/*
 * Writes the description within single quotes. `quote` replaces a single quote, and characters in
 * `special` get a backslash.
 */
static void put_text(FILE *f, const struct argp_option *o, const char *quote, const char *special)
{
    const char *text = o->key == 'm' ? "how columns become pixels" : o->doc;
    for (const char *end = text + text_length(text); text < end; text++)
        if (*text == '\'')
            fputs(quote, f);
        else
            fprintf(f, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* ---- bash ---- */

/* Writes "-o | --output | ..." for all options with this kind of value. */
static void put_bash_names(FILE *f, const struct argp_option *table, enum value value)
{
    const char *between = "";
    for (const struct argp_option *o = table; o->name || o->doc; o++) {
        if (!is_shown(o) || value_kind(o) != value)
            continue;
        if (letter_of(o))
            fprintf(f, "%s-%c | --%s", between, letter_of(o), o->name);
        else
            fprintf(f, "%s--%s", between, o->name);
        between = " | ";
    }
}

static void put_bash_words(FILE *f, const struct argp_option *table)
{
    for (const struct argp_option *o = table; o->name || o->doc; o++) {
        bool list;
        if (!is_shown(o) || value_kind(o) != VALUE_WORDS)
            continue;
        const char *text = completions_words(o->name, &list);
        fputs("        ", f);
        if (letter_of(o))
            fprintf(f, "-%c | ", letter_of(o));
        fprintf(f, "--%s)\n            _barcode_words '%s'%s\n            return ;;\n", o->name,
                text, list ? " list" : "");
    }
}

static void put_bash_options(FILE *f, const struct argp_option *table)
{
    for (const struct argp_option *o = table; o->name || o->doc; o++)
        if (is_shown(o) && letter_of(o))
            fprintf(f, "-%c --%s ", letter_of(o), o->name);
        else if (is_shown(o))
            fprintf(f, "--%s ", o->name);
}

/* Writes which options there are, by the first word, and what that word may be. */
static void put_bash_commands(FILE *f, const struct argp_option *table)
{
    fputs("    case ${COMP_WORDS[1]} in\n", f);
    for (size_t i = 0; i < cli_command_count; i++) {
        fprintf(f, "        %s)\n            options='", cli_commands[i].name);
        put_bash_options(f, cli_commands[i].options);
        put_bash_options(f, cli_command_options);
        fputs("' ;;\n", f);
    }
    fputs("        *)\n            options='", f);
    put_bash_options(f, table);
    fputs("' ;;\n    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    elif ((COMP_CWORD == 1)); then\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -f -W '",
          f);
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(f, "%s ", cli_commands[i].name);
    fputs("' -- \"$cur\")\n    fi\n", f);
}

/*
 * Writes the script for bash. The package bash-completion may be missing, so none of its functions
 * are used. Bash splits --name=value into three words. With `-o default` bash offers files if the
 * function offers nothing; compopt turns that off for values that are not file names.
 */
static void write_bash(const struct argp_option *table, FILE *f)
{
    fputs("# bash completion for barcode; made by barcode --generate complete-bash\n\n"
          "_barcode_words() {\n"
          "    local done=\n"
          "    if [[ ${2:-} == list && $cur == *,* ]]; then\n"
          "        done=${cur%,*},\n"
          "    fi\n"
          "    compopt +o default\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$done\" -W \"$1\" -- \"${cur#\"$done\"}\")\n"
          "}\n\n"
          "_barcode() {\n"
          "    local options cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    COMPREPLY=()\n"
          "    if [[ $cur == '=' ]]; then\n"
          "        cur=\n"
          "    elif [[ $previous == '=' ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $previous in\n",
          f);
    put_bash_words(f, table);
    fputs("        ", f);
    put_bash_names(f, table, VALUE_FILE);
    fputs(")\n            return ;;\n        ", f);
    put_bash_names(f, table, VALUE_FOLDER);
    fputs(")\n            compopt +o default -o dirnames\n            return ;;\n        ", f);
    put_bash_names(f, table, VALUE_OTHER);
    fputs(")\n            compopt +o default\n            return ;;\n    esac\n", f);
    put_bash_commands(f, table);
    fputs("}\n\ncomplete -o default -F _barcode barcode\n", f);
}

/* ---- zsh ---- */

/* Writes the action of _arguments for a value. */
static void put_zsh_value(FILE *f, const struct argp_option *o)
{
    bool list;
    const char *text = completions_words(o->name, &list);
    switch (value_kind(o)) {
    case VALUE_NONE: return;
    case VALUE_FILE: fprintf(f, ":%s:_files", o->arg); return;
    case VALUE_FOLDER: fprintf(f, ":%s:_files -/", o->arg); return;
    case VALUE_OTHER: fprintf(f, ":%s: ", o->arg); return;
    case VALUE_WORDS: break;
    }
    if (list)
        fprintf(f, ":mode:_sequence compadd - %s", text);
    else
        fprintf(f, ":%s:(%s)", o->arg, text);
}

static void put_zsh_option(FILE *f, const struct argp_option *o)
{
    bool value = value_kind(o) != VALUE_NONE;
    fputs("    ", f);
    if (letter_of(o))
        fprintf(f, "'(-%c --%s)'{-%c%s,--%s%s}'", letter_of(o), o->name, letter_of(o),
                value ? "+" : "", o->name, value ? "=" : "");
    else
        fprintf(f, "'--%s%s", o->name, value ? "=" : o->arg ? "=-" : "");
    fputs("[", f);
    put_text(f, o, "'\\''", "[]\\");
    fputs("]", f);
    if (o->arg && !value)
        fprintf(f, "::%s: ", o->arg); /* optional, after '=' */
    put_zsh_value(f, o);
    fputs("' \\\n", f);
}

static void put_zsh_options(FILE *f, const struct argp_option *table)
{
    for (const struct argp_option *o = table; o->name || o->doc; o++)
        if (is_shown(o))
            put_zsh_option(f, o);
}

static void write_zsh(const struct argp_option *table, FILE *f)
{
    fputs("#compdef barcode\n# made by barcode --generate complete-zsh\n\n", f);
    for (size_t i = 0; i < cli_command_count; i++) {
        fprintf(f,
                "if (( CURRENT > 2 )) && [[ $words[2] == %s ]]; then\n    shift words\n"
                "    (( CURRENT-- ))\n    _arguments -s -S \\\n",
                cli_commands[i].name);
        put_zsh_options(f, cli_commands[i].options);
        put_zsh_options(f, cli_command_options);
        fputs("    '*:film:_files'\n    return\nfi\n", f);
    }
    fputs("_arguments -s -S \\\n", f);
    put_zsh_options(f, table);
    fputs("    '1:film or command:{ _files; compadd", f);
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(f, " %s", cli_commands[i].name);
    fputs(" }' \\\n    '*:film:_files'\n", f);
}

/* ---- fish ---- */

/* `test` is a command of fish that succeeds where the option is offered. */
static void put_fish_option(FILE *f, const struct argp_option *o, const char *test)
{
    bool list;
    const char *text = completions_words(o->name, &list);
    fprintf(f, "complete -c barcode -n '%s'", test);
    if (letter_of(o))
        fprintf(f, " -s %c", letter_of(o));
    fprintf(f, " -l %s", o->name);
    switch (value_kind(o)) {
    case VALUE_NONE: break;
    case VALUE_FILE: fputs(" -r -F", f); break;
    case VALUE_FOLDER: fputs(" -x -a '(__fish_complete_directories)'", f); break;
    case VALUE_WORDS:
        if (list)
            fprintf(f, " -x -a '(__fish_complete_list , \"string split \\\" \\\" \\\"%s\\\"\")'",
                    text);
        else
            fprintf(f, " -x -a '%s'", text);
        break;
    case VALUE_OTHER: fputs(" -x", f); break;
    }
    fputs(" -d '", f);
    put_text(f, o, "\\'", "\\");
    fputs("'\n", f);
}

static void put_fish_options(FILE *f, const struct argp_option *table, const char *test)
{
    for (const struct argp_option *o = table; o->name || o->doc; o++)
        if (is_shown(o))
            put_fish_option(f, o, test);
}

static void write_fish(const struct argp_option *table, FILE *f)
{
    char none[256] = "not __fish_seen_subcommand_from", one[64];
    fputs("# fish completion for barcode; made by barcode --generate complete-fish\n", f);
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *c = &cli_commands[i];
        fprintf(f, "complete -c barcode -n __fish_use_subcommand -a %s -d '%s'\n", c->name,
                c->what);
        snprintf(one, sizeof one, "__fish_seen_subcommand_from %s", c->name);
        put_fish_options(f, c->options, one);
        put_fish_options(f, cli_command_options, one);
        snprintf(none + strlen(none), sizeof none - strlen(none), " %s", c->name);
    }
    put_fish_options(f, table, none);
}

bool completions_write(const struct argp_option *table, const char *kind, FILE *f, struct err *e)
{
    if (strcmp(kind, "complete-bash") == 0)
        write_bash(table, f);
    else if (strcmp(kind, "complete-zsh") == 0)
        write_zsh(table, f);
    else if (strcmp(kind, "complete-fish") == 0)
        write_fish(table, f);
    else
        return err_set(e, ERR_USAGE,
                       "--generate: '%s' is not complete-bash, complete-zsh or complete-fish",
                       kind);
    return true;
}
