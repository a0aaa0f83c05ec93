/*
 * cache_entry.h - one file of the cache, and its index, in memory and as bytes. Everything in the
 * index is checked before use. An open entry stays readable when its file is removed or
 * replaced.
 *
 * The file (numbers as in wire.h):
 *
 *     "barcodef"  u32 ENTRY_VERSION  u32 length of the key              ENTRY_HEAD bytes
 *     the key's text
 *     blocks, without gaps: the residuals of one or more frames, compressed (pack.c)
 *     the index
 *     u64 offset of the index  u64 its length                           ENTRY_TAIL bytes with
 *     XXH3-128 of header and key, of the index, of the 48 bytes before    the checksums
 *
 * Every byte is under a checksum; the index has those of the blocks.
 *
 * The index has, in this order: size of the frames, place and name of the film, flags, decode
 * counts, crop. Then blocks (compressed bytes, frames, checksum) and columns (distance from the
 * previous one, repeat, frame, time, status, place). Then the frame times, and tracks (kind,
 * bytes). A place is a frame's position among the frames of all blocks. Transparent frames have the
 * place after the last one.
 */
#ifndef BARCODE_CACHE_ENTRY_H
#define BARCODE_CACHE_ENTRY_H

#include "barcode/base/err.h"
#include "base/film_id.h"
#include "base/version.h"
#include "base/wire.h"
#include "barcode/engine/column.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/crop.h"
#include "media/gop/decode_counts.h"
#include "media/film.h"
#include "media/select/frame_times.h"
#include "media/select/selection.h"

/*
 * ---- The key: readable text that determines the entry's frames: cache_key.c ----
 *
 * A film is identified by its size, its modification time and a fingerprint of some of its bytes.
 * Its name does not count, so a moved or renamed film keeps its entries. The key has everything
 * that can change a byte of an analysis frame.
 */

/* Where a film's file was last seen: not its identity, but enough to detect a modification. */
struct cache_place {
    uint64_t device, inode, path; /* path: a hash of the absolute path */
    int64_t changed_ns;           /* ctime */
};

struct cache_film {
    uint64_t size;
    int64_t modified_ns;
    struct hash128 fingerprint;
    struct cache_place place;
};

/*
 * Identifies the film: the file `path`, or all its `parts` if they are not NULL. May wait some
 * milliseconds for a file that was just modified. Fails if the file has no identity (a pipe, a
 * device, unreadable), or if its modification time cannot distinguish the next change from the last
 * one.
 */
bool cache_film_read(const char *path, const struct film_parts *parts, struct cache_film *id,
                     struct err *e);

/* Returns true if no file of the film has changed since `*id` was read. */
bool cache_film_holds(const char *path, const struct film_parts *parts,
                      const struct cache_film *id);

/*
 * Returns true if the file is at the same place but its ctime differs: a program may have restored
 * its modification time. A renamed film is at another place.
 */
bool cache_place_suspect(const struct cache_place *seen, const struct cache_place *now);

/* Returns true if it is the same unmodified file, under any name; a copy is another. */
bool cache_place_same(const struct cache_place *seen, const struct cache_place *now);

enum { CACHE_KEY_BYTES = 2048, CACHE_NAME_BYTES = 64 };

struct cache_key {
    /* "name=value" lines: the first `base` bytes describe film and size, the rest the selection */
    char text[CACHE_KEY_BYTES];
    size_t base;
    /* the entry's file name; entries with the same base share its first CACHE_NAME_BASE digits */
    char name[CACHE_NAME_BYTES];
};

enum { CACHE_NAME_BASE = 16 }; /* digits of the name that are a hash of the base */

/*
 * Makes the key. `crop` is the text of --crop, "" or NULL if off; "auto" suffices for crop
 * detection, because its result depends only on the film. `light` is the text of tone mapping and
 * averaging, or "" or NULL. `decode` names the allowed decoders if they can change a byte of an
 * intact film. Returns false if the text is too long, as cache_key_make_track does.
 */
bool cache_key_make(struct cache_key *key, const struct cache_film *id, const struct film *film,
                    const struct selection *rule, int width, int height, const char *crop,
                    const char *light, const char *decode);

/*
 * Makes the key of a track, which is independent of the film's analysis frames. `words` has lines
 * with all that it depends on besides the film and the libraries. With `file` the key is that of
 * this file alone, and not of its copies.
 */
bool cache_key_make_track(struct cache_key *key, const struct cache_film *id, bool file,
                          const char *name, const char *words);

/* Sets `*line` to the first line of `text` that differs. Returns its length; 0: all are equal. */
size_t cache_key_difference(const char *text, const char *other, const char **line);

bool cache_key_is_name(const char *name);

/* ---- The index ---- */

enum {
    ENTRY_VERSION = 6,
    ENTRY_HEAD = 16,
    ENTRY_TAIL = 64,
    ENTRY_FILM_BYTES = 64,   /* of the film's name, with its terminating zero */
    ENTRY_BLOCK_FRAMES = 64, /* frames per block: at most this many, */
    /* or this many uncompressed bytes; one frame is always allowed */
    ENTRY_BLOCK_BYTES = 1 << 18
};

struct index_block {
    uint64_t offset;     /* in the file */
    uint64_t bytes;      /* compressed */
    uint64_t first;      /* place of its first frame */
    uint32_t frames;     /* 1..ENTRY_BLOCK_FRAMES */
    struct hash128 hash; /* of the compressed bytes */
};

struct index_frame {
    struct frame_tag tag;
    enum column_status status; /* MISSING: announced but not analysed; has no place */
    uint64_t place;            /* position among the frames of all blocks */
    bool transparent;          /* MISSING, because no pixel is visible */
};

enum { TRACK_SOUND = 2, TRACK_SCAN = 3 }; /* track_cache.c */

/* Data beside the frames. The index owns `data`. A reader skips kinds that it does not know. */
struct index_track {
    uint32_t kind;
    size_t bytes;
    uint8_t *data;
};

/* The index of an entry. Frames are sorted by column, which is also the order of their numbers. */
struct cache_index {
    int width, height;
    bool partial; /* decoding was interrupted: some frames, and no frame times */
    /* decoded sequentially after a contradiction: valid only for its own selection */
    bool exact_only;
    struct cache_place film;
    char name[ENTRY_FILM_BYTES]; /* of the film when the entry was written; for display only */
    struct decode_counts counts;
    struct crop crop;
    struct index_block *block;
    uint64_t blocks;
    struct index_frame *frame;
    uint64_t frames;
    struct frame_times *frame_times; /* may be NULL for encoding */
    struct index_track *track;
    uint64_t tracks;
};

/* Returns the number of frames in a full block of frames of this size. */
uint32_t cache_index_block_frames(int width, int height);

/* Returns true if nothing was damaged or missing: valid for other selections and copies too. */
bool cache_index_is_clean(const struct cache_index *x);

/* Returns the frame with that number, or NULL if it does not exist or is MISSING. */
const struct index_frame *cache_index_find(const struct cache_index *x, uint64_t frame);

/* Sorts frames by place, so that a walk over them reads each block once. */
void cache_index_sort_by_place(struct index_frame *frame, size_t frames);

/*
 * Appends a track with a copy of `data`. Returns false, with `x` unchanged, if out of memory, if
 * there are 16 tracks, or if there is one of that kind. Tracks of a partial entry do not survive:
 * the entry that completes it has its own.
 */
bool cache_index_add_track(struct cache_index *x, uint32_t kind, const uint8_t *data, size_t bytes,
                           struct err *e);

const struct index_track *cache_index_track(const struct cache_index *x, uint32_t kind);

void cache_index_encode(const struct cache_index *x, struct wire_out *o);

/*
 * Decodes untrusted bytes. The blocks must fill the file from `begin` to `end`. Returns false
 * (ERR_FAILED), with `*x` empty, if the bytes are not an index or if out of memory.
 */
bool cache_index_decode(struct cache_index *x, const uint8_t *data, size_t bytes, uint64_t begin,
                        uint64_t end, struct err *e);

void cache_index_free(struct cache_index *x);

/* ---- The file ---- */

enum entry_state {
    ENTRY_GOOD,
    ENTRY_ABSENT,     /* no such file, not readable for this user, or out of memory */
    ENTRY_UNREADABLE, /* the disk or network fails: the entry may be good */
    ENTRY_OTHER,      /* of another version of barcode: ignored */
    ENTRY_BROKEN      /* truncated, damaged, or no entry at all */
};

struct cache_entry {
    int fd;
    uint64_t bytes; /* size of the file */
    char *key;      /* the text of its key */
    struct cache_index index;
};

/*
 * Opens an entry, not a link to one, and checks everything but the blocks. Returns NULL, with the
 * reason in `*state` and `e`, on failure. The caller frees the entry with cache_entry_close. Any
 * thread.
 */
struct cache_entry *cache_entry_open(const char *path, enum entry_state *state, struct err *e);

/* As cache_entry_open, for an open file. Takes ownership of `fd`, also on failure. */
struct cache_entry *cache_entry_open_fd(int fd, enum entry_state *state, struct err *e);

/*
 * Reads only the text of the key, at most `room` bytes with its terminating zero. Verifies no
 * checksum. Returns false if the file is not an entry of this version or `room` is too small.
 */
bool cache_entry_peek_key(const char *path, char *text, size_t room);

void cache_entry_close(struct cache_entry **entry);

/* Reads frames. Each thread needs its own. */
struct cache_entry_reader;

struct cache_entry_reader *cache_entry_reader_open(const struct cache_entry *entry, struct err *e);
void cache_entry_reader_close(struct cache_entry_reader **r);

/*
 * Reads a block (< index.blocks) and verifies its checksum. Returns false with ERR_INPUT if the
 * block is damaged, and with ERR_FAILED if it cannot be read or memory ran out.
 */
bool cache_entry_reader_block(struct cache_entry_reader *r, uint64_t block, struct err *e);

/* Returns frame `n` of the last block, rgb[height][width][3], valid until the next call. */
const uint8_t *cache_entry_reader_frame(struct cache_entry_reader *r, uint32_t n);

/* Reads every block, and fails like cache_entry_reader_block. */
bool cache_entry_check(const struct cache_entry *entry, struct err *e);

/* Returns the block that contains the frame at `place`. */
uint64_t cache_entry_block_of(const struct cache_entry *entry, uint64_t place);

/* ---- Residuals of frames, and zstd: pack.c. Each thread needs its own cache_packer. ---- */

struct cache_packer;

/* zstd's memory is allocated at the first use of each direction. */
struct cache_packer *cache_packer_open(struct err *e);
void cache_packer_free(struct cache_packer **p);

/* Returns the largest possible compressed size of `bytes` bytes. */
size_t cache_pack_bound(size_t bytes);

/* Compresses into out[cache_pack_bound(bytes)]. Returns the compressed size, or 0 on failure. */
size_t cache_pack(struct cache_packer *p, const uint8_t *data, size_t bytes, uint8_t *out,
                  struct err *e);

/* Decompresses untrusted bytes into exactly `bytes` bytes. */
bool cache_unpack(struct cache_packer *p, const uint8_t *packed, size_t packed_bytes, uint8_t *out,
                  size_t bytes, struct err *e);

/*
 * Converts an analysis frame to prediction residuals, which zstd compresses well, and
 * back without loss. The residuals are bytes modulo 256, as many as rgb[height][width][3].
 *
 * Green is subtracted from red and blue (+ 128, so that grey is in the middle). Then each sample is
 * predicted by the median of left, above and left + above - upper left (the predictor of lossless
 * JPEG-LS). `scratch` has the size of the frame. The three buffers must not overlap. Any thread.
 */
void cache_residual_make(const uint8_t *rgb, int width, int height, uint8_t *scratch, uint8_t *out);
void cache_residual_undo(const uint8_t *residual, int width, int height, uint8_t *scratch,
                         uint8_t *rgb);

/*
 * ---- Writing a file while the film is decoded: cache_writer.c ----
 *
 *   put (any thread): copies the frame
 *   --> [todo] --> threads of the writer: residual, zstd, checksum, write --> [free]
 *
 * cache_writer_put waits for the disk or for zstd only if all copies are in use. After the first
 * failure (a full disk, a missing folder, the limit) the writer discards all later frames, and
 * cache_writer_finish returns the error.
 */

struct cache_writer;

/* The prefix of a temporary's name. The file is locked (flock) as long as its writer exists. */
#define CACHE_TEMP_START ".new-"

/*
 * Opens a temporary in `folder`, which must exist. Starts up to `threads` compressing threads.
 * `limit` is the maximum size of the file.
 */
struct cache_writer *cache_writer_open(const char *folder, const char *key, int width, int height,
                                       int threads, uint64_t limit, struct err *e);

/* Copies the frame, rgb[height][width][3], before it returns. Any thread. */
void cache_writer_put(struct cache_writer *w, const struct frame_tag *tag, const uint8_t *rgb);

/* Adds the frames that only an older entry of this key has. No frames may be put from then on. */
bool cache_writer_add(struct cache_writer *w, const struct cache_entry *older, struct err *e);

/*
 * Writes the rest and renames the file to folder/name. `facts` has everything but frames and
 * blocks. `columns` gives the columns that were announced but never decoded; NULL omits them. Frees
 * `*w` in any case. On failure no file is left.
 */
bool cache_writer_finish(struct cache_writer **w, const struct cache_index *facts,
                         struct columns *columns, const char *name, struct err *e);

/* Removes the temporary. */
void cache_writer_discard(struct cache_writer **w);

uint64_t cache_writer_bytes(struct cache_writer *w);

#endif
