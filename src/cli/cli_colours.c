#include <string.h>

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

bool cli_parse_order(const char *text, struct options *o, struct err *e)
{
    for (int i = ORDER_LIGHTNESS; i <= ORDER_SHARE; i++) {
        o->order = (enum palette_order)i;
        if (strcmp(text, palette_order_name(o->order)) == 0)
            return true;
    }
    return err_set(e, ERR_USAGE, "--order: '%s' is not lightness or share", text);
}
