#include "barcode/cli.h"
#include "cli_values.h"

bool cli_parse_steady(const char *text, struct options *o, struct err *e)
{
    uint64_t percent = STEADY_USUAL;
    if (text && !cli_read_whole(text, 0, STEADY_MOST, &percent))
        return err_set(e, ERR_USAGE, "--steady: '%s' is not a per cent, a whole number from 0 to %d", text, STEADY_MOST);
    o->steady = (int)percent;
    return true;
}
