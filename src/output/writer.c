#include "barcode/writer.h"

#include <string.h>

#include "barcode/atomic_file.h"

bool writer_save(const struct writer *w, const struct report *r, struct strips strips, const char *path, struct err *e)
{
    struct atomic_file *f = atomic_file_open(path, w == &writer_png, e);
    if (!f)
        return false;
    if (!w->write(r, strips, atomic_file_stream(f), e)) {
        if (strcmp(path, "-") == 0)
            err_prefix(e, "cannot write to standard output");
        else
            err_prefix(e, "cannot write '%s'", path);
        atomic_file_discard(&f);
        return false;
    }
    return atomic_file_commit(&f, e);
}
