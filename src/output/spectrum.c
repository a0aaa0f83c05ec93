#include "spectrum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "dump.h"
#include "barcode/sound/spectrogram.h"

struct spectrum {
    FILE *file;
    uint64_t frames;
};

static bool fail(struct err *e, int error)
{
    return err_set(e, ERR_FAILED, "cannot keep the spectrogram in '%s': %s", dump_scratch_folder(),
                   strerror(error ? error : EIO));
}

struct spectrum *spectrum_open(struct err *e)
{
    struct spectrum *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    int fd = file_open_scratch(dump_scratch_folder());
    s->file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (s->file)
        return s;
    fail(e, errno);
    if (fd >= 0)
        close(fd);
    free(s);
    return NULL;
}

bool spectrum_put(void *spectrum, const int16_t *values, size_t frames, struct err *e)
{
    struct spectrum *s = spectrum;
    errno = 0;
    if (fwrite(values, sizeof *values * SPECTROGRAM_BINS, frames, s->file) != frames)
        return fail(e, errno);
    s->frames += frames;
    return true;
}

bool spectrum_clear(struct spectrum *s, struct err *e)
{
    s->frames = 0;
    rewind(s->file);
    return ftruncate(fileno(s->file), 0) == 0 || fail(e, errno);
}

uint64_t spectrum_frames(const struct spectrum *s) { return s->frames; }

bool spectrum_copy(struct spectrum *s, FILE *f, struct err *e)
{
    char block[65536];
    size_t n;
    errno = 0;
    if (fflush(s->file) != 0)
        return fail(e, errno);
    rewind(s->file);
    while ((n = fread(block, 1, sizeof block, s->file)) > 0) {
        if (interrupted())
            return interrupt_error(e);
        if (fwrite(block, 1, n, f) != n)
            return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    }
    return !ferror(s->file) || fail(e, errno);
}

void spectrum_free(struct spectrum **s)
{
    if (*s)
        fclose((*s)->file);
    free(*s);
    *s = NULL;
}
