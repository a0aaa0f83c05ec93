#include <string.h>

#include "barcode/engine/engine.h"
#include "base/option.h"
#include "engines.h"

#define OPTION_STRUCT struct engine_options

#ifdef BARCODE_CUDA
#define CUDA_HELP ", cuda[:N,...]"
#define CUDA_WORD , "cuda"
#else
#define CUDA_HELP ""
#define CUDA_WORD
#endif

/* Parses a number of one or two digits and moves `*text` behind it. */
static bool parse_number(const char **text, int *number)
{
    int digits = 0;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text, digits++)
        if (digits < 3)
            *number = *number * 10 + (**text - '0');
    return digits == 1 || digits == 2;
}

/* Parses "cuda", "cuda:N" or "cuda:N,N...". */
static bool parse_cuda(const char *text, struct engine_devices *devices)
{
    devices->count = 0;
    if (strncmp(text, "cuda", 4) != 0)
        return false;
    text += 4;
    if (*text == '\0')
        return true;
    for (char before = ':'; *text == before && devices->count < ENGINE_DEVICES_MOST; before = ',') {
        text++;
        if (!parse_number(&text, &devices->number[devices->count]))
            return false;
        devices->count++;
    }
    return *text == '\0';
}

static bool set_engine(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct engine_options *o = options;
    if (strcmp(arg, "auto") == 0)
        o->choice = ENGINE_AUTO;
    else if (strcmp(arg, "cpu") == 0)
        o->choice = ENGINE_CPU;
    else if (parse_cuda(arg, &o->devices))
        o->choice = ENGINE_CUDA;
    else
        return err_set(e, ERR_USAGE, "--%s: '%s' is not auto, cpu or cuda[:N,...]", row->name, arg);
    if (o->choice == ENGINE_CUDA && !engine_built("cuda"))
        return err_set(e, ERR_ENGINE, "--%s %s: no CUDA engine in this build", row->name, arg);
    return true;
}

static const struct option_row rows[] = {
    {"engine", "NAME", "cluster on: auto (default), cpu" CUDA_HELP, .group = OPTION_RUN,
     .words = OPTION_WORDS("auto", "cpu" CUDA_WORD), OPTION_CUSTOM(set_engine)},
    {0}};

static const struct engine_options defaults = {.choice = ENGINE_AUTO};

const struct option_table engine_options = {rows, &defaults, sizeof defaults};
