#include "outputs.h"
#include "inputs_names.h"
#include "outputs_names.h"

const char *outputs_table(const struct options *o, const struct inputs *in)
{
    for (size_t k = 0; k < o->outputs.extras; k++) {
        const struct options_extra *extra = &o->outputs.extra[k];
        if (extra->writer->table && inputs_films(in) > 1 && !outputs_names_folder(extra->path))
            return extra->path;
    }
    return NULL;
}
