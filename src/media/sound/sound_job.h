/* sound_job.h - the sound of a film that a source reads: source.h. */
#ifndef BARCODE_SOUND_JOB_H
#define BARCODE_SOUND_JOB_H

#include <stdbool.h>

#include "barcode/base/isa.h"
#include "sound/film_sound.h"

struct engine;

struct sound_job {
    enum isa isa;            /* that analyses the sound */
    struct engine *engine;   /* its device analyses the sound, if it has one; NULL: `isa` does */
    sound_spectrum_tap *tap; /* see sound_maker_open; may be NULL */
    void *tap_user;
    bool done;               /* the sound was read to its end, and `sound` is filled */
    struct film_sound sound; /* the caller frees it with film_sound_free */
};

#endif
