#include "nal_frame.h"

#include "nal.h"
#include "nal_read.h"

enum { HEAD = 256 };           /* bytes of a slice that its header fits into, nearly always */
enum { P, B, I, SP, SI };      /* slice_type modulo 5                                       */

/* 7.3.3.1. False: that makes no sense. */
static bool skip_list_changes(struct bit_reader *r, int lists)
{
    enum { MOST = 66, END = 3 };
    for (int i = 0; i < lists; i++) {
        if (!read_bit(r))
            continue;
        int n = 0;
        for (uint32_t change; (change = read_ue(r)) != END; skip_ue(r, 1))
            if (change > END || ++n > MOST)
                return false;
    }
    return true;
}

/* 7.3.3.2. */
static void skip_weights(struct bit_reader *r, bool grey, const uint32_t *references, int lists)
{
    skip_ue(r, grey ? 1 : 2);
    for (int i = 0; i < lists; i++)
        for (uint32_t n = 0; n < references[i]; n++) {
            skip_ue(r, read_bit(r) ? 2 : 0);
            if (!grey)
                skip_ue(r, read_bit(r) ? 4 : 0);
        }
}

/* 7.3.3.3, of a picture that is no IDR. */
static bool marking_resets(struct bit_reader *r)
{
    enum { MOST = 66, RESET = 5 };
    static const int numbers[] = {0, 1, 1, 2, 1, 0, 1};
    if (!read_bit(r))
        return false;
    bool resets = false;
    uint32_t what = read_ue(r);
    for (int n = 0; what > 0 && what <= 6 && n < MOST; what = read_ue(r), n++) {
        resets |= what == RESET;
        skip_ue(r, numbers[what]);
    }
    return resets && what == 0 && !is_used_up(r);
}

/* r->bit stands behind pic_order_cnt_lsb, or where that would be. */
static bool resets(struct bit_reader *r, const struct nal_slice *slice, const struct nal_sps *sps, const struct nal_pps *pps)
{
    bool between = slice->type == B, after = slice->type == P || slice->type == SP;
    int lists = between ? 2 : after ? 1 : 0;
    bool bottom = pps->bottom_order && !slice->field;
    if (sps->order_type == 0)
        skip_ue(r, bottom);
    else if (sps->order_type == 1 && !sps->no_deltas)
        skip_ue(r, 1 + bottom);
    skip_ue(r, pps->redundant);
    if (between)
        read_bit(r);                          /* direct_spatial_mv_pred_flag */
    uint32_t references[2] = {pps->references[0], pps->references[1]};
    if (lists > 0 && read_bit(r))             /* num_ref_idx_active_override_flag */
        for (int i = 0; i < lists; i++)
            references[i] = read_ue(r) + 1;
    if (references[0] > 32 || references[1] > 32 || !skip_list_changes(r, lists))
        return false;
    if ((pps->weighted && after) || (pps->weighted_both == 1 && between))
        skip_weights(r, sps->grey, references, lists);
    return marking_resets(r);
}

static bool read_frame(const struct nal_sets *s, const struct nal *nal, struct nal_frame *frame)
{
    uint8_t head[HEAD];
    struct nal_slice slice;
    struct bit_reader r = {.data = head, .size = unescape(nal, head, sizeof head)};
    if (!nal_sets_read_slice(s, head, r.size, &slice))
        return false;
    const struct nal_sps *sps = &s->sps[slice.sps];
    const struct nal_pps *pps = &s->pps[slice.pps];
    *frame = (struct nal_frame){.frame_num = slice.frame_num, .most = UINT32_C(1) << sps->frame_num_bits, .idr = slice.idr,
                                .reference = nal->data[0] >> 5 & 3, .gaps = sps->gaps};
    r.bit = slice.order_bit + (sps->order_type == 0 ? sps->order_bits : 0);
    frame->resets = frame->reference && !slice.idr && pps->known && resets(&r, &slice, sps, pps);
    return true;
}

bool nal_frame_next(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size, size_t *at, struct nal_frame *frame)
{
    struct nal nal;
    while (next_head(length_size, data, size, at, &nal)) {
        int type = nal.size > 1 ? nal.data[0] & 31 : 0;
        bool first = nal.size > 1 && nal.data[1] & 0x80;      /* first_mb_in_slice is 0 */
        if (!first || (type != 1 && type != 2 && type != 5))
            continue;
        if (type == 2 || !read_frame(s, &nal, frame))         /* partitions have other headers */
            *frame = (struct nal_frame){.most = 0};
        return true;
    }
    return false;
}
