/* align.h - `barcode align`: two films, the outputs, and edits to the frame. */
#ifndef BARCODE_MATCH_ALIGN_H
#define BARCODE_MATCH_ALIGN_H

#include <stdio.h>

#include "align_map.h"
#include "match/match.h"

/* One of the two films. What is known from its pictures is empty unless an output needs it. */
struct align_film {
    const char *path;              /* any bytes */
    char *name;                    /* align_film_name */
    double rate;                   /* frames a second; 0: unknown */
    int64_t start_us, duration_us; /* of the pictures */
    uint8_t *png;                  /* [png_bytes] its strip: from start_us, duration_us long */
    size_t png_bytes;
};

/* What an output shows: film[0] is A. */
struct align_result {
    const struct align_map *map;
    struct align_film film[2];
};

/* A format of -o. */
struct align_format {
    const char *ending; /* "csv" */
    bool strips, rate;  /* needs film.png, and start_us and duration_us; film.rate */
    /* Writes to `f`, but does not open, flush or close it. Returns false with errno. */
    bool (*write)(const struct align_result *r, FILE *f);
};

/* Returns the format of a path's ending, the CSV for "-", or NULL. */
const struct align_format *align_format_of(const char *path);

/*
 * Writes a file as a whole (atomic_file.h), or to stdout. A terminal gets the page's sentence, too,
 * before the rows. Returns false if that failed, with the path in the message.
 */
bool align_output_save(const struct align_format *format, const struct align_result *r,
                       const char *path, struct err *e);

/* Returns what a film is called: its path's last part, as plain UTF-8. The caller frees it. */
char *align_film_name(const char *path, struct err *e);

/*
 * ---- align_exact.c: the films' jobs, and edits to the frame ----
 *
 * One film goes on at once where the other has a scene more. Its frames are those of the other film
 * before the scene, and from a frame x on those after the scene. The x at which the pictures
 * differ least is the edit. Integers only.
 */

enum { ALIGN_FRAME_BYTES = 16 * 9 * 3 };

/* All frames of a short time. */
struct align_frames {
    int64_t *time_us; /* [count], ascending */
    uint8_t *rgb;     /* [count][ALIGN_FRAME_BYTES] */
    size_t count;
};

/* An edit: in the film that goes on, and the scene in the other one. */
struct align_edit {
    int64_t own_us, from_us, to_us;
    int num, den; /* of the other film's time for that of the one that goes on */
};

/*
 * Moves *edit to the frame. `own` are the frames around own_us, `before` and `after` those around
 * from_us and to_us. Returns false, and leaves it, if the pictures do not show where it is: they
 * are black, or not the same in both films. Pure.
 */
bool align_frames_refine(const struct align_frames *own, const struct align_frames *before,
                         const struct align_frames *after, struct align_edit *edit);

/*
 * Reads what is known of the films from their pictures, and with `strips` their strips. Returns
 * false with `e`, or with *status if the batch failed, or in a worker process.
 */
bool align_pictures_read(const struct command_films *films, bool strips, struct align_film film[2],
                         int *status, struct err *e);

/*
 * Decodes the frames around each edit of the map, in confined processes as ever, and moves the edit
 * if the pictures show where it is. film[] has the extents of the pictures, and `films` lists both.
 * Returns false as align_pictures_read.
 */
bool align_exact(struct command_films *films, const struct align_film film[2],
                 struct align_map *map, int *status, struct err *e);

/*
 * Sets rate, start and duration of a film, and, unless `frames` is NULL, the frames' times.
 * bytes[size] come from a worker process that a film may have taken over. Returns false with errno
 * if they are no such facts.
 */
bool align_facts_read(const uint8_t *bytes, size_t size, struct align_film *film,
                      struct align_frames *frames);

#endif
