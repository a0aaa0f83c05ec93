#include "outputs_gallery.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "output/html/gallery.h"
#include "inputs.h"

bool outputs_names_gallery(const struct plan *plan, const struct writer *w, const char *path)
{
    size_t length;
    static const char name[] = "index.";
    const char *last = path_last(path, &length);
    if (!w->gallery || inputs_is_folder(path) || last[length] != 0)
        return false;
    return strncmp(last, name, strlen(name)) == 0 &&
           strcmp(last + strlen(name), writer_usual_ending(w)) == 0 &&
           (plan->inputs.count > 1 ||
            (plan->inputs.count == 1 && inputs_is_folder(plan->inputs.argument[0])) ||
            gallery_exists(path));
}

char *outputs_gallery_folder(const char *path, struct err *e)
{
    size_t length;
    char *folder = strndup(path, (size_t)(path_last(path, &length) - path));
    if (!folder)
        err_memory(e, strlen(path));
    return folder;
}

const char *outputs_gallery(const struct plan *plan)
{
    for (size_t k = 0; k < plan->outputs.extras; k++) {
        if (outputs_names_gallery(plan, plan->outputs.extra[k].writer, plan->outputs.extra[k].path))
            return plan->outputs.extra[k].path;
    }
    return NULL;
}

bool outputs_make_gallery_folder(const struct plan *plan, struct err *e)
{
    const char *path = outputs_gallery(plan);
    char *folder = outputs_gallery_folder(path, e);
    size_t length;
    const struct output gallery = {
        .path = path,
        .below = folder && *folder ? path + (path_last(folder, &length) - folder) : NULL};
    bool ok = folder && outputs_make_folders(&gallery, e);
    free(folder);
    return ok;
}

bool outputs_spare_gallery(const struct plan *plan, const struct output *output, struct err *e)
{
    const char *gallery = outputs_gallery(plan);
    return !gallery || !file_same(gallery, output->path) ||
           err_set(e, ERR_FAILED,
                   "'%s' is the gallery, and this film's page would have its name; rename the film",
                   gallery);
}

bool outputs_keep_gallery(const struct output *output, struct err *e)
{
    return !output->writer || !output->writer->gallery || !gallery_exists(output->path) ||
           err_set(e, ERR_FAILED,
                   "'%s' is a gallery; --html '%s' adds the film to it, or choose another name",
                   output->path, output->path);
}
