#include <string.h>

#include "cli.h"
#include "barcode/engine/engine.h"

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
        if (!parse_number(&text, &devices->number[devices->count++]))
            return false;
    }
    return *text == '\0';
}

bool cli_parse_engine(const char *text, struct options *o, struct err *e)
{
    if (strcmp(text, "auto") == 0)
        o->engine.choice = ENGINE_AUTO;
    else if (strcmp(text, "cpu") == 0)
        o->engine.choice = ENGINE_CPU;
    else if (parse_cuda(text, &o->engine.devices))
        o->engine.choice = ENGINE_CUDA;
    else
        return err_set(e, ERR_USAGE, "--engine: '%s' is not auto, cpu or cuda[:N,...]", text);
    if (o->engine.choice == ENGINE_CUDA && !engine_built("cuda"))
        return err_set(e, ERR_ENGINE, "--engine %s: no CUDA engine in this build", text);
    return true;
}

bool cli_parse_memory(const char *text, struct options *o, struct err *e)
{
    const uint64_t least = (uint64_t)256 << 20;
    return (cache_options_size(text, &o->process.memory) && o->process.memory >= least) ||
           err_set(e, ERR_USAGE, "--memory: '%s' is not a size such as 500M or 2G (at least 256M)",
                   text);
}

bool cli_parse_decode(const char *text, struct options *o, struct err *e)
{
    for (enum decode_choice i = DECODE_AUTO; decode_word(i); i++)
        if (strcmp(text, decode_word(i)) == 0) {
            o->film.decode = i;
            return true;
        }
    return err_set(e, ERR_USAGE, "--decode: '%s' is not auto, cpu or nvdec", text);
}
