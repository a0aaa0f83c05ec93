#include <stdio.h>
#include <string.h>

#include "cli_rows.h"

/* The kind of an option's value, derived from its placeholder in --help. */
enum value { VALUE_NONE, VALUE_FILE, VALUE_FOLDER, VALUE_WORDS, VALUE_OTHER };

/* Returns the words of a value, separated by blanks; "" if it has none. */
static const char *words_of(const struct option_row *o)
{
    static _Thread_local char text[32 * (STRIPS_MOST + 1)];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; option_word(o, i) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 option_word(o, i));
    return text;
}

static enum value value_kind(const struct option_row *o)
{
    if (!option_takes_next(o))
        return VALUE_NONE;
    if (option_word(o, 0))
        return VALUE_WORDS;
    if (strstr(o->arg, "FILE"))
        return VALUE_FILE;
    return strstr(o->arg, "DIR") ? VALUE_FOLDER : VALUE_OTHER;
}

static bool is_shown(const struct option_row *o) { return o->name && !o->hidden; }

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
static void put_text(FILE *f, const struct option_row *o, const char *quote, const char *special)
{
    const char *text = o->letter == 'm' ? "how columns become pixels" : o->help;
    for (const char *end = text + text_length(text); text < end; text++)
        if (*text == '\'')
            fputs(quote, f);
        else
            fprintf(f, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* ---- bash ---- */

/* Writes "-o | --output | ..." for all options with this kind of value. */
static void put_bash_names(FILE *f, const struct cli_rows *rows, enum value value)
{
    const char *between = "";
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *o = &rows->at[i].row;
        if (!is_shown(o) || value_kind(o) != value)
            continue;
        if (o->letter)
            fprintf(f, "%s-%c | --%s", between, o->letter, o->name);
        else
            fprintf(f, "%s--%s", between, o->name);
        between = " | ";
    }
}

static void put_bash_words(FILE *f, const struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *o = &rows->at[i].row;
        if (!is_shown(o) || value_kind(o) != VALUE_WORDS)
            continue;
        const char *text = words_of(o);
        fputs("        ", f);
        if (o->letter)
            fprintf(f, "-%c | ", o->letter);
        fprintf(f, "--%s)\n            _barcode_words '%s'%s\n            return ;;\n", o->name,
                text, o->list ? " list" : "");
    }
}

static void put_bash_options(FILE *f, const struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *o = &rows->at[i].row;
        if (is_shown(o) && o->letter)
            fprintf(f, "-%c --%s ", o->letter, o->name);
        else if (is_shown(o))
            fprintf(f, "--%s ", o->name);
    }
}

/* Writes which options there are, by the first word, and what that word may be. */
static void put_bash_commands(FILE *f, const struct cli_rows *rows,
                              const struct cli_command *const *commands)
{
    struct cli_rows command_rows;
    fputs("    case ${COMP_WORDS[1]} in\n", f);
    for (const struct cli_command *const *c = commands; c && *c; c++) {
        fprintf(f, "        %s)\n            options='", (*c)->name);
        cli_rows_of_command(&command_rows, *c, NULL, NULL);
        put_bash_options(f, &command_rows);
        fputs("' ;;\n", f);
    }
    fputs("        *)\n            options='", f);
    put_bash_options(f, rows);
    fputs("' ;;\n    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    elif ((COMP_CWORD == 1)); then\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -f -W '",
          f);
    for (const struct cli_command *const *c = commands; c && *c; c++)
        fprintf(f, "%s ", (*c)->name);
    fputs("' -- \"$cur\")\n    fi\n", f);
}

/*
 * Writes the script for bash. The package bash-completion may be missing, so none of its functions
 * are used. Bash splits --name=value into three words. With `-o default` bash offers files if the
 * function offers nothing; compopt turns that off for values that are not file names.
 */
static void write_bash(const struct cli_rows *rows, FILE *f,
                       const struct cli_command *const *commands)
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
    put_bash_words(f, rows);
    fputs("        ", f);
    put_bash_names(f, rows, VALUE_FILE);
    fputs(")\n            return ;;\n        ", f);
    put_bash_names(f, rows, VALUE_FOLDER);
    fputs(")\n            compopt +o default -o dirnames\n            return ;;\n        ", f);
    put_bash_names(f, rows, VALUE_OTHER);
    fputs(")\n            compopt +o default\n            return ;;\n    esac\n", f);
    put_bash_commands(f, rows, commands);
    fputs("}\n\ncomplete -o default -F _barcode barcode\n", f);
}

/* ---- zsh ---- */

/* Writes the action of _arguments for a value. */
static void put_zsh_value(FILE *f, const struct option_row *o)
{
    const char *text = words_of(o);
    switch (value_kind(o)) {
    case VALUE_NONE: return;
    case VALUE_FILE: fprintf(f, ":%s:_files", o->arg); return;
    case VALUE_FOLDER: fprintf(f, ":%s:_files -/", o->arg); return;
    case VALUE_OTHER: fprintf(f, ":%s: ", o->arg); return;
    case VALUE_WORDS: break;
    }
    if (o->list)
        fprintf(f, ":mode:_sequence compadd - %s", text);
    else
        fprintf(f, ":%s:(%s)", o->arg, text);
}

static void put_zsh_option(FILE *f, const struct option_row *o)
{
    bool value = value_kind(o) != VALUE_NONE;
    fputs("    ", f);
    if (o->letter)
        fprintf(f, "'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter, value ? "+" : "",
                o->name, value ? "=" : "");
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

static void put_zsh_options(FILE *f, const struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *o = &rows->at[i].row;
        if (is_shown(o))
            put_zsh_option(f, o);
    }
}

static void write_zsh(const struct cli_rows *rows, FILE *f,
                      const struct cli_command *const *commands)
{
    struct cli_rows command_rows;
    fputs("#compdef barcode\n# made by barcode --generate complete-zsh\n\n", f);
    for (const struct cli_command *const *c = commands; c && *c; c++) {
        fprintf(f,
                "if (( CURRENT > 2 )) && [[ $words[2] == %s ]]; then\n    shift words\n"
                "    (( CURRENT-- ))\n    _arguments -s -S \\\n",
                (*c)->name);
        cli_rows_of_command(&command_rows, *c, NULL, NULL);
        put_zsh_options(f, &command_rows);
        fputs("    '*:film:_files'\n    return\nfi\n", f);
    }
    fputs("_arguments -s -S \\\n", f);
    put_zsh_options(f, rows);
    fputs("    '1:film or command:{ _files; compadd", f);
    for (const struct cli_command *const *c = commands; c && *c; c++)
        fprintf(f, " %s", (*c)->name);
    fputs(" }' \\\n    '*:film:_files'\n", f);
}

/* ---- fish ---- */

/* `test` is a command of fish that succeeds where the option is offered. */
static void put_fish_option(FILE *f, const struct option_row *o, const char *test)
{
    const char *text = words_of(o);
    fprintf(f, "complete -c barcode -n '%s'", test);
    if (o->letter)
        fprintf(f, " -s %c", o->letter);
    fprintf(f, " -l %s", o->name);
    switch (value_kind(o)) {
    case VALUE_NONE: break;
    case VALUE_FILE: fputs(" -r -F", f); break;
    case VALUE_FOLDER: fputs(" -x -a '(__fish_complete_directories)'", f); break;
    case VALUE_WORDS:
        if (o->list)
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

static void put_fish_options(FILE *f, const struct cli_rows *rows, const char *test)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct option_row *o = &rows->at[i].row;
        if (is_shown(o))
            put_fish_option(f, o, test);
    }
}

static void write_fish(const struct cli_rows *rows, FILE *f,
                       const struct cli_command *const *commands)
{
    struct cli_rows command_rows;
    char none[256] = "not __fish_seen_subcommand_from", one[64];
    fputs("# fish completion for barcode; made by barcode --generate complete-fish\n", f);
    for (const struct cli_command *const *c = commands; c && *c; c++) {
        fprintf(f, "complete -c barcode -n __fish_use_subcommand -a %s -d '%s'\n", (*c)->name,
                (*c)->what);
        snprintf(one, sizeof one, "__fish_seen_subcommand_from %s", (*c)->name);
        cli_rows_of_command(&command_rows, *c, NULL, NULL);
        put_fish_options(f, &command_rows, one);
        snprintf(none + strlen(none), sizeof none - strlen(none), " %s", (*c)->name);
    }
    put_fish_options(f, rows, none);
}

bool cli_write_completions(const char *kind, const struct cli_command *const *commands, FILE *f,
                           struct err *e)
{
    struct cli_rows rows;
    cli_rows_of_films(&rows, NULL);
    if (strcmp(kind, "complete-bash") == 0)
        write_bash(&rows, f, commands);
    else if (strcmp(kind, "complete-zsh") == 0)
        write_zsh(&rows, f, commands);
    else if (strcmp(kind, "complete-fish") == 0)
        write_fish(&rows, f, commands);
    else
        return err_set(e, ERR_USAGE,
                       "--generate: '%s' is not complete-bash, complete-zsh or complete-fish",
                       kind);
    return true;
}
