/* hdr_metadata.h - the peak brightness of a film (light.h), from its metadata. */
#ifndef BARCODE_CONTAINER_HDR_METADATA_H
#define BARCODE_CONTAINER_HDR_METADATA_H

#include <libavformat/avformat.h>
#include <libavutil/mastering_display_metadata.h>

#include "media/film.h"

/* Fills peak and dolby_vision from the container's metadata. */
void film_light_of_stream(const AVStream *s, struct film *f);

/*
 * Returns MaxCLL, or else the mastering display's peak; 0 if unknown. Both arguments may be NULL.
 */
int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display);

#endif
