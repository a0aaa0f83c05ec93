/*
 * writer.h - the output formats: a table with one entry per format, and functions that write a file
 * completely or not at all.
 *
 * Everything that depends on the format is in its entry. To add a format, write its entry in a file
 * of formats/ and add a line to writer.c. `-o` then selects it by its file name ending. An option
 * of its own, with the name of the writer, needs a row in outputs_options.c.
 */
#ifndef BARCODE_WRITER_H
#define BARCODE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output/formats/thumbs.h"
#include "report.h"
#include "output/modes/strip.h"

enum {
    WRITERS_MOST = 28,
    WRITER_HEAD = 4096, /* bytes that writer.recognizes gets, fewer if the file is shorter */
    WRITER_BESIDE = 64  /* room for the name of an output beside the film */
};

/* The metadata in a complete file that barcode made. */
struct writer_metadata {
    char film[FILM_ID_TEXT];              /* the film's id; "" if it has none */
    char fingerprint[REPORT_FINGERPRINT]; /* options_fingerprint.h; "" if unknown */
    bool partial; /* the film was decoded only in part; false if the format does not store it */
    /* with width and height, the extent of a dump of the film; 0 if the format does not store it */
    uint64_t columns;
    int width, height; /* of an analysis frame */
    uint64_t parts;    /* number of other files that belong to this one */
};

/* A format. The functions may be called from any thread, for several files at once. */
struct writer {
    const char *name;   /* "png"; "json" and "bench" are also the long options that select them */
    const char *option; /* the long option that selects it, without "--"; NULL: its name */
    const char *title;  /* for display: "PNG" */
    /*
     * the endings by which -o selects it, in lower case and without the dot, then a NULL. File
     * names that the program chooses have the first one. NULL: -o never selects it, and chosen
     * names end in the writer's name
     */
    const char *const *ending;
    bool binary; /* must not go to a terminal */
    /*
     * one file per strip, or for the stack of strips; otherwise one file per film, for all strips
     */
    bool one_a_strip;
    bool page;     /* always a poster (poster.h) */
    bool pixels;   /* an image of pixels (poster.h), which is a poster with --poster */
    bool opaque;   /* with `pixels`: the format has no transparency */
    int side_most; /* with `pixels`: of an image, in pixels; 0: unlimited */
    bool tail;     /* `recognizes` gets the end of a file, not its beginning */
    /* shows all modes in picture_options.computed, including modes that were not requested but cost
     * nothing more. Not with one_a_strip */
    bool all_computed;
    /* for several films, FOLDER/index.ENDING is a gallery of their files: gallery.h */
    bool gallery;
    bool one_line; /* one line per film: several films may share one stream */
    bool table;    /* a header line, then rows: several films may share one file (run_files.h) */
    /* its option takes a folder, which need not exist; the program chooses the names in it */
    bool folder;
    bool modeless;   /* independent of the modes: nothing is computed for them */
    bool thumbnails; /* reads report.media.thumbs */
    /*
     * Reads report.media.previews; its file lies beside the film, and its option takes no path.
     * Writes what replaces the ending of the film's name. NULL: any other writer
     */
    void (*beside)(const struct previews_rule *rule, char text[WRITER_BESIDE]);
    bool palette;  /* reads report.media.palette, as posters do */
    bool sound;    /* reads report.media.sound */
    bool spectrum; /* reads report.media.spectrum */
    bool shots;    /* reads report.media.shots */
    /* which options change its content whatever the modes are: bits of enum strip_option */
    unsigned obeys;
    bool has_times; /* contains processing times, so it is written after all writers that do not */

    /*
     * How its files begin, with a provenance comment behind that, and how complete ones end.
     * `trailer`: how complete ones end, behind a trailer comment. (provenance.h)
     */
    const char *begin, *end, *trailer;

    /*
     * Returns true if `head` is the beginning (with `tail`: the end) of a file that barcode wrote.
     * `film` is set to the film id in the file, or left empty. NULL: those with `begin` or
     * `trailer`; without these no file counts as barcode's.
     */
    bool (*recognizes)(const uint8_t *head, size_t size, char film[FILM_ID_TEXT]);

    /* Reads a file of this format to its end. Returns false if barcode did not make it, or if it is
     * not as barcode wrote it. `metadata` comes in zeroed. NULL: those with `end` or `trailer`;
     * without these --update makes the file again each time. */
    bool (*read_metadata)(FILE *f, struct writer_metadata *metadata);

    /* Returns true if the other files that belong to the one at `path` (metadata->parts) exist and
     * are complete. NULL: the format has no other files. */
    bool (*has_all_parts)(const char *path, const struct writer_metadata *metadata);

    /* Returns true if `other` is the path of one of the other files that belong to the one at
     * `path`. NULL: as above. */
    bool (*is_part)(const char *path, const char *other);

    /*
     * Writes the complete output to `f`, but does not open, flush or close it. `strips` are the
     * modes to paint or list. On failure `e` gets only the reason ("No space left on device"), and
     * writer_save prefixes what it was writing. A writer that may take long must call interrupted()
     * several times a second and fail if it is true. writer_save then writes the message.
     */
    bool (*write)(const struct report *r, struct strips strips, FILE *f, struct err *e);

    /*
     * Replaces `write` for an output of several files: writes all of them, as writer_save does.
     * Their names derive from `path`, which is not stdout. Files beside `path` replace no file that
     * barcode did not make, and no file of another film unless report.id.overwrite. NULL: `write`
     * is used.
     */
    bool (*save)(const struct report *r, struct strips strips, const char *path, struct err *e);
};

/* The formats of the man page. -o uses the first for a name without an ending, and for names that
 * the program chooses. */
extern const struct writer *const writer_table[];
extern const size_t writer_count; /* 1..WRITERS_MOST */

extern const struct writer writer_thumbnails, writer_jellyfin, writer_bif;

/* Returns true if barcode made the trickplay sheet at `path`. Any thread. */
bool jellyfin_made(const char *path);

/* Returns the writer with this name, or NULL if there is none. Any thread. */
const struct writer *writer_find(const char *name);

/* Returns the long option that selects the writer, without "--". Any thread. */
const char *writer_option(const struct writer *w);

/* Returns true if the path ends in a dot and one of the endings, in any case. `ending` is a list as
 * writer.ending; if it is NULL, returns false. Any thread. */
bool writer_has_ending(const char *path, const char *const *ending);

/* Returns the writer that has the ending of this path, or NULL if there is none. Any thread. */
const struct writer *writer_by_ending(const char *path);

/* Returns the ending, without the dot, of file names that the program chooses for this writer. Any
 * thread. */
const char *writer_usual_ending(const struct writer *w);

/* Returns true if barcode wrote the file at `path` with this writer. `film` is set to the film id
 * (film_id.h) in the file, or to "" if it has none. Opens regular files only. Any thread. */
bool writer_made(const struct writer *w, const char *path, char film[FILM_ID_TEXT]);

/*
 * Returns true if barcode wrote the file at `path` with this writer and the file is complete,
 * including its parts. Sets *metadata to its metadata. Returns false for formats that store none.
 * Opens regular files only. Any thread.
 */
bool writer_read_metadata(const struct writer *w, const char *path,
                          struct writer_metadata *metadata);

/* Apply the entry of the writer to the bytes of a file: see writer.recognizes and
 * writer.read_metadata. Any thread. */
bool writer_recognizes(const struct writer *w, const uint8_t *head, size_t size,
                       char film[FILM_ID_TEXT]);
bool writer_read(const struct writer *w, FILE *f, struct writer_metadata *metadata);

/* Returns true if files of this writer have metadata. Any thread. */
bool writer_has_metadata(const struct writer *w);

/* Sets the reason of a stream that failed, from errno. Returns false. Any thread. */
bool writer_failed(struct err *e);

/*
 * Writes to `path` through a temporary file beside it, fsync and rename. After a failure the old
 * file is unchanged and the temporary is removed. After a kill the temporary may remain as
 * .NAME.XXXXXX.tmp.
 *
 * "-" is stdout (flushed, not closed); binary output to a terminal is refused. Fails with
 * ERR_INTERRUPTED if interrupted() becomes true.
 */
bool writer_save(const struct writer *w, const struct report *r, struct strips strips,
                 const char *path, struct err *e);

#endif
