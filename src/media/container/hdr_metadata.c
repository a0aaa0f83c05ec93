#include "hdr_metadata.h"

#include <libavutil/dovi_meta.h>

#include "media/ffmpeg/libav.h"
#include "barcode/engine/light.h"

/* Returns MaxCLL if known, else the mastering display's peak, else 0. */
static int peak_of_nits(unsigned content, unsigned display)
{
    unsigned nits = content > 0 ? content : display;
    return nits < LIGHT_PEAK_MOST ? (int)nits : LIGHT_PEAK_MOST;
}

int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display)
{
    bool is_known = display && display->has_luminance && display->max_luminance.num > 0 &&
                    display->max_luminance.den > 0;
    return peak_of_nits(
        content ? content->MaxCLL : 0,
        is_known ? (unsigned)(display->max_luminance.num / display->max_luminance.den) : 0);
}

/*
 * Returns the Dolby Vision profile if its base layer has no standard colours (profile 5, and AV1's
 * profile 10 without a compatibility ID), else 0.
 */
static int dolby_alone(const AVDOVIDecoderConfigurationRecord *dolby)
{
    bool alone = dolby && (dolby->dv_profile == 5 ||
                           (dolby->dv_profile == 10 && dolby->dv_bl_signal_compatibility_id == 0));
    return alone ? dolby->dv_profile : 0;
}

void film_light_of_stream(const AVStream *s, struct film *f)
{
    const uint8_t *content = av_compat_side_data(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, NULL);
    const uint8_t *display = av_compat_side_data(s, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, NULL);
    const uint8_t *dolby = av_compat_side_data(s, AV_PKT_DATA_DOVI_CONF, NULL);
    f->peak = film_light_peak((const void *)content, (const void *)display);
    f->dolby_vision = dolby_alone((const void *)dolby);
}
