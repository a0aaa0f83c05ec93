#include "option_table.h"

#include "barcode/cache/cache_options.h"
#include "barcode/output/paper.h"
#include "cli_help.h"

enum group {
    GROUP_FILMS = 1,
    GROUP_PICTURE,
    GROUP_POSTER,
    GROUP_COLOURS,
    GROUP_FRAMES,
    GROUP_OUTPUTS,
    GROUP_CACHE,
    GROUP_RUN
};

#ifdef BARCODE_CUDA
#define CUDA_WORD ", cuda[:N,...]"
#else
#define CUDA_WORD ""
#endif

const struct argp_option cli_option_table[] = {
    {NULL, 0, NULL, 0, "Films:", GROUP_FILMS},
    {"recursive", 'r', NULL, CLI_COMMON, "include subfolders, also for the outputs", 0},
    {"any", KEY_ANY, NULL, 0, "in a FOLDER, take files of any name (GIF, APNG)", 0},
    {"join", KEY_JOIN, NULL, 0, "all FILMs are one film, in this order", 0},
    {"no-join", KEY_NO_JOIN, NULL, 0, "do not join a film's chapters (GoPro, DVD)", 0},
    {"playlists", KEY_PLAYLISTS, NULL, 0,
     "read playlists by any name (.m3u8, .m3u, .ffconcat: always)", 0},
    {"sequence", KEY_SEQUENCE, NULL, 0, "the images of a FOLDER are one film", 0},
    {"rate", KEY_RATE, "N", 0, "images a second in a film of images: 12, 23.976 or 30000/1001 (24)",
     0},
    {"shard", KEY_SHARD, "I/N", 0, "do only share I (from 1) of N shares of the films", 0},
    {"update", KEY_UPDATE, NULL, CLI_COMMON, "skip films whose outputs exist and are up to date",
     0},

    {NULL, 0, NULL, 0, "Picture:", GROUP_PICTURE},
    {"output", 'o', "FILE|DIR", CLI_COMMON,
     "output file (.png, .pdf, .svg, .html), folder, "
     "or - for stdout (FILM.png in the working directory)",
     0},
    {"name", KEY_NAME, "PATTERN", 0, "file names in folders, made of {stem} and {mode}", 0},
    {"mode", 'm', "MODE[,MODE...]", CLI_COMMON, "", 0}, /* cli_modes_help has the text */
    {"width", KEY_WIDTH, "PX", CLI_COMMON, "width (one pixel per column)", 0},
    {"height", KEY_HEIGHT, "PX", CLI_COMMON, "height (360); with -m all, of each mode", 0},

    {"shape", KEY_SHAPE, "SHAPE", 0, "strip (default), circle or vertical", 0},
    {"smooth", KEY_SMOOTH, "TIME", 0, "even out changes shorter than about TIME", 0},

    {NULL, 0, NULL, 0, "Posters (-o FILE.pdf, FILE.svg, or --poster):", GROUP_POSTER},
    {"poster", KEY_POSTER, "FORMAT", OPTION_ARG_OPTIONAL | CLI_COMMON,
     "poster with title, axis, palette: png, svg, pdf", 0},
    {"title", KEY_TITLE, "TEXT", 0, "title (the film's title tag, or else its name)", 0},
    {"page", KEY_PAGE, "PAGE", 0,
     "A0 to A6, B0 to B6, Letter, A2-portrait, WxHmm, WxHin, WxH pixels (" PAPER_NAME ")", 0},
    {"dpi", KEY_DPI, "N", 0, "pixels per inch of a PNG poster (300)", 0},

    {NULL, 0, NULL, 0, "Colours:", GROUP_COLOURS},
    {"clusters", 'k', "N", CLI_COMMON, "clusters per frame, 1 to 64 (8)", 0},
    {"steady", KEY_STEADY, "PERCENT", OPTION_ARG_OPTIONAL | CLI_COMMON,
     "kmeans, dominant: remove flicker; 0 to 50 (10)", 0},
    {"order", KEY_ORDER, "ORDER", 0, "palette: order by lightness (default) or share", 0},
    {"colours", KEY_COLOURS, "N", 0,
     "colours of the film's palette (posters, pages, --swatches), 2 to 32 (8)", 0},
    {"colors", KEY_COLOURS, "N", OPTION_HIDDEN, NULL, 0},
    {"n-init", KEY_N_INIT, "N", 0, "k-means restarts; the best is kept (20)", 0},
    {"no-race", KEY_NO_RACE, NULL, 0,
     "finish every restart, as scikit-learn does; palette and all always do", 0},
    {"init", KEY_INIT, "METHOD", 0, "seeding: scalable (default), k-means++, random", 0},
    {"max-iter", KEY_MAX_ITER, "N", 0, "limit of iterations per restart (300)", 0},
    {"seed", KEY_SEED, "N", 0, "random seed (0)", 0},
    {"size", KEY_SIZE, "SIZE", 0, "analysis size: WxH, longer SIDE, 1/D, full (320)", 0},
    {"crop", KEY_CROP, "RULE", 0, "crop black bars: auto (default), off, W:H:X:Y", 0},
    {"trim", KEY_CROP, "RULE", OPTION_HIDDEN, NULL, 0},
    {"tone-map", KEY_TONE_MAP, "CURVE", 0,
     "HDR to SDR: bt2390 (default), hable, reinhard, clip, off", 0},
    {"hdr-peak", KEY_HDR_PEAK, "NITS", 0, "HDR peak in cd/m2 (from the film, or 1000)", 0},
    {"light", KEY_LIGHT, "KIND", 0, "average code values (code, default) or light (linear)", 0},

    {NULL, 0, NULL, 0, "Frames:", GROUP_FRAMES},
    {"every", 'n', "N", 0, "use every Nth frame (24; less for a short film)", 0},
    {"interval", KEY_INTERVAL, "TIME", 0, "use a frame every TIME", 0},
    {"columns", KEY_COLUMNS, "N", 0, "use N frames, evenly spaced in time", 0},
    {"keyframes", KEY_KEYFRAMES, NULL, CLI_COMMON, "use key frames only: much faster, less exact",
     0},
    {"start", KEY_START, "TIME", CLI_COMMON, "begin at TIME: seconds or [HH:]MM:SS[.mmm]", 0},
    {"end", KEY_END, "TIME", CLI_COMMON, "stop before TIME", 0},
    {"stream", KEY_STREAM, "N", 0, "video stream N, from 0 (largest); -v lists them", 0},

    {NULL, 0, NULL, 0, "Other outputs (without a picture, unless -o is given):", GROUP_OUTPUTS},
    {"html", KEY_HTML, "FILE|DIR", CLI_COMMON,
     "write a page for a browser; DIR/index.html: a gallery", 0},
    {"json", KEY_JSON, "FILE|DIR", 0, "write every column's colours, counts and time", 0},
    {"csv", KEY_CSV, "FILE|DIR", CLI_COMMON, "write a row per column: time, colours, shares", 0},
    {"swatches", KEY_SWATCHES, "FILE|DIR", 0, "write the film's palette: .gpl, .ase, .css, .json",
     0},
    {"thumbnails", KEY_THUMBNAILS, "DIR", 0, "write thumbnail sheets and WebVTT for players", 0},
    {"dump", KEY_DUMP, "FILE|DIR", 0, "write the analysed frames as raw RGB24", 0},
    {"report", KEY_REPORT, "FILE", 0, "append a line of JSON per film", 0},
    {"overwrite", KEY_OVERWRITE, NULL, 0, "also replace outputs of other films", 0},
    {"bench", KEY_BENCH, NULL, 0, "print stage times and rates to stdout as JSON", 0},

    {NULL, 0, NULL, 0, "Cache of analysed frames:", GROUP_CACHE},
    {"cache", CACHE_OPTION_FOLDER, "DIR", 0, "cache folder, - for none (~/.cache/barcode)", 0},
    {"no-cache", CACHE_OPTION_OFF, NULL, 0, "do not read or write the cache", 0},
    {"refresh", CACHE_OPTION_REFRESH, NULL, 0, "decode again and replace the cached frames", 0},
    {"cache-limit", CACHE_OPTION_LIMIT, "SIZE", 0, "limit of the cache (10G, less on a full disk)",
     0},
    {"cache-stats", CACHE_OPTION_STATS, NULL, 0, "list the cache; takes no FILM", 0},
    {"cache-verify", CACHE_OPTION_VERIFY, NULL, 0, "remove damaged entries; takes no FILM", 0},
    {"cache-clear", CACHE_OPTION_CLEAR, NULL, 0, "empty the cache; takes no FILM", 0},

    {NULL, 0, NULL, 0, "Run:", GROUP_RUN},
    {"engine", KEY_ENGINE, "NAME", 0, "cluster on: auto (default), cpu" CUDA_WORD, 0},
    {"decode", KEY_DECODE, "NAME", 0, "decode on: auto (default), cpu, nvdec", 0},
    {"threads", KEY_THREADS, "N", 0, "number of threads (one per core)", 0},
    {"jobs", 'j', "N", 0, "films at once (enough to keep the cores busy)", 0},
    {"memory", KEY_MEMORY, "SIZE", 0, "memory for all films at once (15/16 of what is allowed)", 0},
    {"max-pixels", KEY_MAX_PIXELS, "N", 0, "refuse films with larger frames (134217728)", 0},
    {"film-timeout", KEY_FILM_TIMEOUT, "TIME", 0, "give up a film that takes longer than TIME", 0},
    {"progress", KEY_PROGRESS, "WHEN", 0, "auto (default: on a terminal), always, never", 0},
    {"sandbox", KEY_SANDBOX, "WHEN", 0,
     "confine the processes that decode: auto (default, as far as the kernel can), require, off",
     0},
    {"strict", KEY_STRICT, NULL, 0, "fail if a film is decoded only in part", 0},
    {"keep-going", KEY_KEEP_GOING, NULL, 0, "skip what the disk cannot read of a film", 0},
    {"verify", KEY_VERIFY, NULL, 0, "decode twice, in two ways, and compare all frames", 0},
    {"quiet", 'q', NULL, 0, "print errors only", 0},
    {"verbose", 'v', NULL, 0, "print more; twice for debugging", 0},

    {"generate", KEY_GENERATE, "KIND", 0, "print complete-bash, complete-zsh, complete-fish", -1},
    {NULL, 'h', NULL, CLI_COMMON, "show the most useful options", -1},
    {"help", KEY_HELP, NULL, CLI_COMMON, "show all options", -1},
    {"version", 'V', NULL, 0, "show the versions of barcode and its libraries", -1},
    {"usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, 0},
    {0}};
