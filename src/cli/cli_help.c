#include "cli_help.h"

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

void cli_print_short_help(const struct argp_state *state, FILE *out)
{
    const struct argp *whole = state->root_argp;
    struct argp_option common[CLI_COMMON_LIMIT + 1] = {0};
    size_t count = 0;
    for (const struct argp_option *o = whole->options; o->name || o->doc; o++) {
        if (!(o->flags & CLI_COMMON) || count == CLI_COMMON_LIMIT)
            continue;
        common[count] = *o;
        if (o->group > 0)
            common[count].group = 0;
        count++;
    }
    struct argp shown = *whole;
    shown.options = common;
    shown.doc = short_doc;
    struct argp_state answered = *state; /* argp calls help_filter only if it has a state */
    answered.root_argp = &shown;
    argp_state_help(&answered, out, CLI_HELP_WHOLE);
}
