/* align_output.h - writes what `barcode align` found (align_map.h). */
#ifndef BARCODE_MATCH_ALIGN_OUTPUT_H
#define BARCODE_MATCH_ALIGN_OUTPUT_H

#include <stdio.h>

#include "align_map.h"

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
 * Writes a file as a whole (atomic_file.h), or to stdout. Returns false if that failed, with the
 * path in the message.
 */
bool align_output_save(const struct align_format *format, const struct align_result *r,
                       const char *path, struct err *e);

/*
 * Reads rate, start and duration of a film from the JSON that barcode wrote about it. Returns false
 * if the file cannot be read, or is not such a JSON.
 */
bool align_json_read(const char *path, struct align_film *film, struct err *e);

/* Returns what a film is called: its path's last part, as plain UTF-8. The caller frees it. */
char *align_film_name(const char *path, struct err *e);

bool align_write_csv(const struct align_result *r, FILE *f);
bool align_write_edl(const struct align_result *r, FILE *f);
bool align_write_json(const struct align_result *r, FILE *f);
bool align_write_html(const struct align_result *r, FILE *f);

#endif
