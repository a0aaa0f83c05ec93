#include "film_jump.h"

int64_t film_jump_frame(const AVFormatContext *format, AVStream *stream)
{
    AVRational rate = av_guess_frame_rate((AVFormatContext *)format, stream, NULL);
    return rate.num > 0 && rate.den > 0 ? av_rescale_q(1, av_inv_q(rate), stream->time_base) : 0;
}

bool film_jump_is(int64_t frame, int64_t from, int64_t to)
{
    uint64_t usual = (uint64_t)frame, since = (uint64_t)to - (uint64_t)from;      /* two times may lie further apart than INT64_MAX */
    return from != AV_NOPTS_VALUE && to != AV_NOPTS_VALUE && to > from && since >= usual + usual / 2;
}
