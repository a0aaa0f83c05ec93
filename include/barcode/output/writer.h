/*
 * writer.h - the formats of output: a table, an entry a format; and the file that appears whole or
 * not at all.
 *
 * Whatever depends on the format stands in its entry. A new format is a file formats/NAME.c with
 * its entry, and its line in writer.c. `-o` then picks it by its ending; for an option of its own,
 * named as the writer is, it needs a key and a line in cli.c.
 */
#ifndef BARCODE_WRITER_H
#define BARCODE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/output/report.h"
#include "barcode/output/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WRITERS_MOST = 16,
    WRITER_HEAD = 4096 /* bytes of a file that writer.recognizes gets, where it has so many */
};

/* What a whole file that barcode made says of itself. */
struct writer_metadata {
    char film[FILM_ID_TEXT];              /* the film's id; "": it had none */
    char fingerprint[REPORT_FINGERPRINT]; /* options_fingerprint.h; "": unknown */
    bool partial;      /* the film decoded only in part; false where the format does not say */
    uint64_t columns;  /* with width and height, what a dump of it holds; 0: it does not say */
    int width, height; /* staged size */
    uint64_t parts;    /* other files that belong to it */
};

/* Functions may be called from any thread, for several files at once. */
struct writer {
    const char *name;   /* "png"; "json" and "bench" are also the long options that ask for them */
    const char *option; /* the long option that asks for it, without "--"; NULL: its name */
    const char *title;  /* as people write it: "PNG" */
    /*
     * those by which -o picks it, in lower case and without the dot, then a NULL; names that the
     * program chooses have the first. NULL: -o never picks it, and such names end in the writer's
     */
    const char *const *ending;
    bool binary;      /* not for a terminal */
    bool one_a_strip; /* a file for each strip, or for the stack; else one a film, for all strips */
    bool page;        /* always a poster (options.h) */
    bool tail;        /* `recognizes` looks at the last bytes of a file, not at the first */
    /*
     * shows what options.computed has: also strips that were not asked for and cost nothing more.
     * Not with one_a_strip
     */
    bool all_computed;
    bool gallery; /* of several films, FOLDER/index.ENDING is a gallery of their files: gallery.h */
    bool one_line; /* a line a film: several films may share one stream */
    bool folder;   /* its option names a folder, there or not: the names in it are the program's */
    bool modeless; /* shows nothing of the strips: nothing is computed for them */
    bool thumbnails; /* reads report.thumbs */
    /*
     * what it tells of columns whatever the strips, and which options change that: enum strip_need,
     * strip_option
     */
    unsigned needs, obeys;
    bool has_times; /* says how long the film took, so it is written after all that do not */

    /*
     * True for the beginning (with `tail`: the end) of a file that barcode wrote; `film` gets the
     * id of the film that the file names, or stays empty. NULL: the format has no sign of barcode,
     * so no file counts as barcode's.
     */
    bool (*recognizes)(const uint8_t *head, size_t size, char film[FILM_ID_TEXT]);

    /*
     * Reads a file of this format to its end. False: barcode did not make it, or it is not as it
     * was written, whatever became of it. `metadata` comes in zeroed. NULL: the format does not
     * say.
     */
    bool (*read_metadata)(FILE *f, struct writer_metadata *metadata);

    /* True if the other files that belong to the one at `path` (told->parts) are there and whole.
     * NULL: there are none. */
    bool (*parts_there)(const char *path, const struct writer_metadata *metadata);

    /*
     * Writes the whole output to `f`; does not open, flush or close it. `strips`: what is to be
     * painted or told. On failure `e` gets the cause alone ("No space left on device"): writer_save
     * puts what it was writing in front. A writer that may take long asks interrupted() several
     * times a second and fails when it is true; writer_save then makes the sentence.
     */
    bool (*write)(const struct report *r, struct strips strips, FILE *f, struct err *e);

    /*
     * In the place of `write`, for what is several files: makes all of them, of names that follow
     * from `path` (no stdout), as writer_save does. Those beside `path` replace nothing that
     * barcode did not make, and nothing of another film unless report.overwrite. NULL: `write` it
     * is.
     */
    bool (*save)(const struct report *r, struct strips strips, const char *path, struct err *e);
};

/*
 * png     libpng: 8-bit RGB, sRGB chunk, tEXt/iTXt: Software, barcode:film (its id),
 * barcode:recipe, Title, Description, barcode:KEY = the parameters; nothing of engine or times:
 * same input, same bytes svg     a poster: the strip's pixels as an embedded PNG, letters as
 * outlines; title, film id and recipe in <metadata> pdf     a poster by cairo: the strip's pixels
 * without loss, letters as embedded fonts; no date. Both end with film id, recipe and a checksum in
 * a comment (trailer_comment.h) html    a page to look at the film with, and what a gallery needs
 * of it: src/DESIGN.md section 7; same input, same bytes json    the man page, section JSON; one
 * key a line, one column a line, stages last csv     a row a column: column, frame, time, status,
 * average, then dominant and k colours with shares as far as the strips need them, and the film's
 * id gpl, ase, css, swatches-json   the film's palette (film_palette.h), for --swatches thumbnails
 * WebVTT of the film's thumbnails, and the sheets beside it bench   stage times, counts, frames/s,
 * peak memory: one JSON object, one line
 *
 * -o writes the first when no writer has the name's ending. Names that the program chooses for -o
 * are of the first, too.
 */
extern const struct writer *const writer_table[];
extern const size_t writer_count; /* 1..WRITERS_MOST */

extern const struct writer writer_thumbnails;

/* The writer of that name; NULL: none. Any thread. */
const struct writer *writer_find(const char *name);

/* The long option that asks for it, without "--". Any thread. */
const char *writer_option(const struct writer *w);

/* True if the path ends in a dot and one of these, in letters of any case. A list as writer.ending;
 * NULL: false. Any thread. */
bool writer_has_ending(const char *path, const char *const *ending);

/* The writer that has this path's ending; NULL: none. Any thread. */
const struct writer *writer_by_ending(const char *path);

/* The ending, without the dot, of names that the program chooses for this writer's files. Any
 * thread. */
const char *writer_usual_ending(const struct writer *w);

/*
 * True if barcode wrote the file at `path` with this writer; `film` gets the id of the film in it
 * (film_id.h), "" where the file does not say. Opens regular files only. Any thread.
 */
bool writer_made(const struct writer *w, const char *path, char film[FILM_ID_TEXT]);

/*
 * True if barcode wrote the file at `path` with this writer and it is whole, its parts too; *told
 * then has what it says. False for formats that do not say. Opens regular files only. Any thread.
 */
bool writer_read_metadata(const struct writer *w, const char *path,
                          struct writer_metadata *metadata);

/*
 * Writes to `path` through a temporary file beside it, fsync and rename: after a failure or a
 * kill the old file is untouched and the temporary is gone (or, after a kill, named
 * .NAME.XXXXXX.tmp).
 * "-" is stdout (flushed, not closed); binary to a terminal is refused. ERR_INTERRUPTED when
 * interrupted() turned true meanwhile.
 */
bool writer_save(const struct writer *w, const struct report *r, struct strips strips,
                 const char *path, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
