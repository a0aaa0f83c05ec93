/*
 * hdr_metadata.h - how bright a film gets (light.h), as its metadata say.
 */
#ifndef BARCODE_CONTAINER_HDR_METADATA_H
#define BARCODE_CONTAINER_HDR_METADATA_H

#include <libavformat/avformat.h>
#include <libavutil/mastering_display_metadata.h>

#include "barcode/media/film.h"

/* Fills peak and dolby_vision, from what the container says. */
void film_light_of_stream(const AVStream *s, struct film *f);

/* Returns MaxCLL, or the mastering display's most where there is none (both may be NULL); 0:
 * unknown. */
int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display);

#endif
