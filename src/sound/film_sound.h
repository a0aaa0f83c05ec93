/*
 * film_sound.h - what is known of a film's sound: rows of loudness and spectrum for the strips, and
 * peaks (peaks.h) from which landmarks are made.
 *
 * Sound is on the film's time axis: sample 0 is at time 0, that of the player (timeline.h). Gaps
 * are silence.
 */
#ifndef BARCODE_FILM_SOUND_H
#define BARCODE_FILM_SOUND_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"
#include "barcode/sound/peaks.h"

SHARED_BEGIN

enum {
    SOUND_BANDS = 96, /* of a row, from SOUND_BAND_LEAST to SOUND_BAND_MOST Hz, log */
    SOUND_BAND_LEAST = 40,
    SOUND_BAND_MOST = 8000,
    SOUND_ROWS_MOST = 32768, /* of a film: longer ones have longer rows */
    SOUND_SILENCE = -700,    /* the least loudness, in 0.1 LUFS */
    SOUND_NONE = -701,       /* of film_sound.loudness: the sound is shorter than 400 ms */
    SOUND_HOURS_MOST = 48,   /* what comes later is cut off */
    SOUND_JITTER_US = 50000, /* see sound_maker_push */
    SOUND_VERSION = 3,       /* of everything that is computed, and of film_sound_write */
    SOUND_CHANNELS_MOST = 64,
    SOUND_NAME = 32
};

/* A row: the sound of film_sound.hops hops of the spectrogram. */
struct sound_row {
    int16_t loudness; /* momentary (EBU R128, 400 ms) around the row's middle, 0.1 LUFS */
    int16_t peak; /* the largest sample of a channel, 0.1 dB of full scale; SOUND_SILENCE least */
    uint16_t centroid;         /* of the power spectrum, in Hz; 0: silence */
    uint8_t band[SOUND_BANDS]; /* the largest value, mean of the hops; 255: SPECTROGRAM_VALUE_MOST
                                */
};

struct film_sound {
    int stream;               /* number among the streams of sound, from 0; -1: the film has none */
    int rate, channels;       /* of the stream at its beginning */
    char codec[SOUND_NAME];   /* FFmpeg's name: "ac3" */
    char decoder[SOUND_NAME]; /* that decoded it: "ac3_fixed" */
    char layout[SOUND_NAME];  /* FFmpeg's name: "5.1(side)" */
    uint64_t samples;         /* at SPECTROGRAM_RATE, from the film's time 0 to the sound's end */
    uint32_t gaps;            /* within the sound, filled with silence */
    int64_t gap_us;           /* their length together */
    uint64_t errors;          /* packets that could not be decoded */
    int loudness, range; /* integrated, 0.1 LUFS or SOUND_NONE; loudness range (EBU 3342), 0.1 LU */
    int peak;            /* 0.1 dB of full scale */
    uint32_t hops;       /* of a row: 1, 2, 4 ... */
    size_t rows;
    struct sound_row *row; /* [rows] */
    size_t peaks;
    struct peak *point; /* [peaks] */
};

/* Samples of all channels, in the order of FFmpeg's channel mask. */
struct sound_block {
    const int16_t *sample; /* [frames][channels] */
    size_t frames;
    int channels, rate; /* 1..SOUND_CHANNELS_MOST; 1..768000 */
    uint64_t mask;      /* AV_CH_* of FFmpeg; 0: unknown, then all channels count the same */
    int64_t time_us;    /* of the first frame, the player's; INT64_MIN: follows the last block */
};

struct sound_maker;

/* Called with frames of the spectrogram, in order: values[frames][SPECTROGRAM_BINS]. */
typedef bool sound_spectrum_tap(void *user, const int16_t *values, size_t frames, struct err *e);

/* `device` replaces the processor and is borrowed; like `tap` it may be NULL. One thread. */
struct sound_maker *sound_maker_open(enum isa isa, struct sound_device *device,
                                     sound_spectrum_tap *tap, void *user, struct err *e);
void sound_maker_free(struct sound_maker **m);

/*
 * Adds a block. Time before the film's start is cut off. A block that is later than the end of what
 * was pushed by more than SOUND_JITTER_US makes a gap; one that is earlier by more loses what
 * overlaps; any other follows the last one. Rate, channels and layout may change from block to
 * block.
 */
bool sound_maker_push(struct sound_maker *m, const struct sound_block *b, struct err *e);

/*
 * Ends the sound and moves what was found to *out, which has the fields of the stream already.
 * Nothing may be pushed after it.
 */
bool sound_maker_finish(struct sound_maker *m, struct film_sound *out, struct err *e);

/*
 * Sums up the rows that touch [from_us, to_us) into *out: loudness by mean power, largest peak,
 * mean bands and centroid weighted by power. All silent outside of the sound. Any thread.
 */
void film_sound_span(const struct film_sound *s, int64_t from_us, int64_t to_us,
                     struct sound_row *out);

/*
 * Writes *s as bytes for the cache: *bytes is freed with free(). film_sound_read returns false for
 * bytes that are not from film_sound_write of the same version; they need not be trusted.
 */
bool film_sound_write(const struct film_sound *s, uint8_t **bytes, size_t *count, struct err *e);
bool film_sound_read(struct film_sound *s, const uint8_t *bytes, size_t count, struct err *e);

void film_sound_free(struct film_sound *s);

SHARED_END
#endif
