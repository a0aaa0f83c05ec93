#include <stdlib.h>
#include <string.h>

#include "outputs_names.h"

/* The name of a film's output beside it. */
struct beside {
    struct output output;
    size_t film;
};

static int by_name(const void *a, const void *b)
{
    const struct beside *x = a, *y = b;
    int order = strcmp(x->output.path, y->output.path);
    return order ? order : (x->film > y->film) - (x->film < y->film);
}

/* Makes it a problem of each film that an earlier one has the same name. `list` is sorted. */
static void compare(struct inputs *in, const struct beside *list, size_t count)
{
    size_t first = 0;
    for (size_t k = 1; k < count; k++) {
        if (strcmp(list[k].output.path, list[first].output.path) != 0) {
            first = k;
            continue;
        }
        err_set(&in->problem[list[k].film], ERR_FAILED,
                "cannot write '%s': the previews of '%s' have that name", list[k].output.path,
                in->path[list[first].film]);
    }
}

bool outputs_check_beside(const struct plan *plan, struct inputs *in, struct err *e)
{
    size_t extra = 0, count = 0;
    while (extra < plan->outputs.extras && !plan->outputs.extra[extra].writer->beside)
        extra++;
    if (extra == plan->outputs.extras || in->count == 0)
        return true;
    struct beside *list = err_calloc(in->count, sizeof *list, e);
    if (!list)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        struct err reported_later = ERR_INIT;
        list[count] =
            (struct beside){.output.writer = plan->outputs.extra[extra].writer, .film = i};
        if (in->stem[i] && in->problem[i].code == ERR_NONE &&
            outputs_name_beside(plan, in, i, &list[count].output, &reported_later))
            count++;
    }
    qsort(list, count, sizeof *list, by_name);
    compare(in, list, count);
    for (size_t k = 0; k < count; k++)
        free(list[k].output.made);
    free(list);
    return true;
}
