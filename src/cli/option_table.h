/*
 * option_table.h - the table of all options. Parsing, -h, --help, the man page and the completions
 * come from it. Private to cli/.
 */
#ifndef BARCODE_OPTIONS_OPTION_TABLE_H
#define BARCODE_OPTIONS_OPTION_TABLE_H

#include <argp.h>

/* The keys of options without a short letter. */
enum option_key {
    KEY_N_INIT = 256,
    KEY_INIT,
    KEY_MAX_ITER,
    KEY_SEED,
    KEY_INTERVAL,
    KEY_COLUMNS,
    KEY_START,
    KEY_END,
    KEY_STREAM,
    KEY_SIZE,
    KEY_WIDTH,
    KEY_HEIGHT,
    KEY_ENGINE,
    KEY_DECODE,
    KEY_THREADS,
    KEY_JSON,
    KEY_DUMP,
    KEY_PROGRESS,
    KEY_STRICT,
    KEY_KEEP_GOING,
    KEY_VERIFY,
    KEY_BENCH,
    KEY_OVERWRITE,
    KEY_KEYFRAMES,
    KEY_STEADY,
    KEY_ORDER,
    KEY_CROP,
    KEY_TONE_MAP,
    KEY_HDR_PEAK,
    KEY_LIGHT,
    KEY_NO_RACE,
    KEY_ANY,
    KEY_UPDATE,
    KEY_REPORT,
    KEY_SHARD,
    KEY_POSTER,
    KEY_TITLE,
    KEY_PAGE,
    KEY_DPI,
    KEY_SUBTITLE,
    KEY_BARE,
    KEY_BACKGROUND,
    KEY_FONT,
    KEY_SVG_TEXT,
    KEY_SHAPE,
    KEY_SMOOTH,
    KEY_HELP,
    KEY_USAGE,
    KEY_CSV,
    KEY_SWATCHES,
    KEY_THUMBNAILS,
    KEY_GENERATE,
    KEY_HTML,
    KEY_NAME,
    KEY_JOIN,
    KEY_NO_JOIN,
    KEY_PLAYLISTS,
    KEY_SEQUENCE,
    KEY_RATE,
    KEY_FILM_TIMEOUT,
    KEY_MEMORY,
    KEY_MAX_PIXELS,
    KEY_SANDBOX,
    KEY_CSV_COLUMNS,
    KEY_TRICKPLAY,
    KEY_TRICKPLAY_INTERVAL,
    KEY_TRICKPLAY_WIDTH,
    KEY_COLOURS,
    KEY_LANDMARKS,
    KEY_SPECTROGRAM,
    KEY_SOUND_STREAM,
    KEY_ROTATE,
    KEY_DAY,
    KEY_LIVE,
    KEY_TIMEOUT,
    KEY_SERVE,
    KEY_LIVE_FORMAT
    /* The cache's options follow from CACHE_OPTION_FOLDER: see cache_options.h. */
};

/* The options, by group; ends in zeros. The text of -m is empty: see cli_modes_help. */
extern const struct argp_option cli_option_table[];

#endif
