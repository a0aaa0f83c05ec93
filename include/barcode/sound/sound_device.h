/*
 * sound_device.h - a device that computes sound in place of the processor, with the same bytes.
 * engine_sound opens one. One thread at a time an object.
 */
#ifndef BARCODE_SOUND_DEVICE_H
#define BARCODE_SOUND_DEVICE_H

#include "barcode/base/err.h"

/* The functions wait for their results. They return false with ERR_ENGINE if the device fails. */
struct sound_device {
    /* Does what spectrogram_run does. */
    bool (*spectrogram)(struct sound_device *d, const int16_t *sound, size_t samples, size_t frames,
                        int16_t *out, struct err *e);
    /* Does what max_filter_run does. */
    bool (*max_filter)(struct sound_device *d, const int16_t *in, size_t rows, size_t columns,
                       int radius, int16_t *out, struct err *e);
    /* Frees *d and sets it to NULL. */
    void (*close)(struct sound_device **d);
};

#endif
