#include <string.h>

#include "barcode/cli.h"
#include "barcode/engine.h"

/* "cuda" or "cuda:N", N of one or two digits. */
static bool parse_device(const char *text, int *device)
{
    if (strncmp(text, "cuda", 4) != 0)
        return false;
    *device = 0;
    text += 4;
    if (*text == '\0')
        return true;
    if (*text++ != ':' || *text == '\0' || strlen(text) > 2)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *device = *device * 10 + (*text - '0');
    }
    return true;
}

bool cli_parse_engine(const char *text, struct options *o, struct err *e)
{
    if (strcmp(text, "auto") == 0)
        o->engine = ENGINE_AUTO;
    else if (strcmp(text, "cpu") == 0)
        o->engine = ENGINE_CPU;
    else if (parse_device(text, &o->device))
        o->engine = ENGINE_CUDA;
    else
        return err_set(e, ERR_USAGE, "--engine: '%s' is not auto, cpu or cuda[:N]", text);
    if (o->engine == ENGINE_CUDA && !engine_built("cuda"))
        return err_set(e, ERR_ENGINE, "--engine %s: no CUDA engine in this build", text);
    return true;
}

bool cli_parse_decode(const char *text, struct options *o, struct err *e)
{
    static const char *const word[] = {"auto", "cpu", "nvdec"};
    for (int i = DECODE_AUTO; i <= DECODE_NVDEC; i++) {
        o->decode = (enum decode_choice)i;
        if (strcmp(text, word[i]) == 0)
            return true;
    }
    return err_set(e, ERR_USAGE, "--decode: '%s' is not auto, cpu or nvdec", text);
}
