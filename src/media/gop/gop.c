#include "gop.h"

#include "media/bitstream/coded_picture.h"
#include "media/ffmpeg/packet.h"

bool gop_has_gap(const struct chunk *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->picture[i].lost || r->picture[i].after_gap)
            return true;
    return false;
}

bool gop_move_pictures(struct chunk *to, struct chunk *from, struct err *e)
{
    for (size_t i = 0; i < from->count; i++) {
        if (!chunk_append(to, &from->picture[i], e))
            return false;
        from->picture[i].packet = NULL;
    }
    from->count = 0;
    from->bytes = 0;
    return true;
}

bool gop_add_next_leading(struct chunk *chunk, struct chunk *following, bool gaps, struct err *e)
{
    size_t last = 0;
    for (size_t i = 0; i < following->count; i++)
        if (following->picture[i].leading && following->picture[i].selected)
            last = i + 1;
    for (size_t i = 0; i < last; i++) {
        struct picture *p = &following->picture[i], copy = *p;
        if (p->packet && !(copy.packet = packet_clone(p->packet)))
            return err_memory(e, packet_size(p->packet));
        copy.after_gap &= gaps;
        if (p->leading) {
            p->selected = false;
        } else {
            /*
             * The key frame has no number yet: it is displayed right after the last of its leading
             * pictures.
             */
            copy.selected = false;
            copy.frame = following->picture[last - 1].frame + following->count;
        }
        if (!chunk_append(chunk, &copy, e)) {
            packet_free(&copy.packet);
            return false;
        }
    }
    return true;
}

bool gop_is_selected(const struct chunk *r, bool leading)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->picture[i].selected && r->picture[i].leading == leading)
            return true;
    return false;
}
