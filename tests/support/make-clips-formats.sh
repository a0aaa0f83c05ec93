# shellcheck shell=bash
# make-clips-formats.sh - a part of make-clips.sh, which reads it: pixel formats that are unpacked, colours that change or are
# untagged, rights management.
# shellcheck disable=SC2154  # variables and functions are make-clips.sh's

cat_all() { # FROM... TO
    cat "${@:1:$#-1}" > "${!#}"
}

# Puts an object for rights management at the end of an ASF file's header.
asf_rights() { # FROM content|extended TO
    py - "$@" <<'PY'
import struct, sys
data = open(sys.argv[1], 'rb').read()
text = lambda t: struct.pack('<I', len(t)) + t
if sys.argv[2] == 'content':
    guid = bytes.fromhex('fbb3112223bdd211b4b700a0c955fc6e')
    body = text(b'secret bytes') + text(b'DRM\0') + text(b'key id\0') + text(b'http://nowhere.invalid/\0')
else:
    guid, body = bytes.fromhex('14e68a292226174cb935dae07ee9289c'), text(b'\xff\xfe<\0W\0R\0M\0')
added = guid + struct.pack('<Q', 24 + len(body)) + body
size, objects = struct.unpack('<QI', data[16:28])
open(sys.argv[3], 'wb').write(data[:16] + struct.pack('<QI', size + len(added), objects + 1) + data[28:size] + added + data[size:])
PY
}

# Says of a Matroska file's first track that its frames are encrypted, with the key of a name.
matroska_rights() { # FROM TO
    py - "$@" <<'PY'
import sys
data = open(sys.argv[1], 'rb').read()
def element(ident, body):
    return bytes.fromhex(ident) + (len(body) | 1 << 56).to_bytes(8, 'big') + body
def number(at, keep):
    length = 9 - data[at].bit_length()
    value = int.from_bytes(data[at:at + length], 'big')
    return (value if keep else value & (1 << 7 * length) - 1), at + length
def rewrite(at, end):
    out = b''
    while at < end:
        ident, body = number(at, True)
        size, body = number(body, False)
        stop = min(body + size, end)
        if ident == 0x18538067 or ident == 0x1654AE6B:      # the segment, the tracks
            out += element('%x' % ident, rewrite(body, stop))
        elif ident == 0xAE:
            key = element('5035', element('47e1', b'\5') + element('47e2', b'a key'))
            out += element('ae', data[body:stop] + element('6d80', element('6240', element('5033', b'\1') + key)))
        else:
            out += data[at:stop]
        at = stop
    return out
open(sys.argv[2], 'wb').write(rewrite(0, len(data)))
PY
}

fairplay() { # FROM TO
    sed 's/avc1/drmi/g' "$1" > "$2"
}

# Palettes, fields, bits, words of the other order: as codecs give them, and raw.
PALETTE=(-frames:v 24 -vf "split[a][b];[a]palettegen[p];[b][p]paletteuse" -pix_fmt pal8)
fmt() { # NAME FORMAT ARG...
    local name=$1 format=$2
    shift 2
    enc "$name" -frames:v 24 -pix_fmt "$format" "$@"
}
fmt qtrle-rgb555.mov rgb555be -c:v qtrle
fmt qtrle-grey.mov gray -c:v qtrle
enc png-palette.mov "${PALETTE[@]}" -c:v png
fmt png-two-tone.mov monob -c:v png
fmt png-rgb48.mov rgb48be -c:v png
fmt png-grey16.mov gray16be -c:v png
fmt png-alpha.mov rgba64be -c:v png
enc zmbv-palette.avi "${PALETTE[@]}" -c:v zmbv
fmt zmbv-rgb555.avi rgb555le -c:v zmbv
fmt zmbv-rgb565.avi rgb565le -c:v zmbv
fmt msvideo1.avi rgb555le -c:v msvideo1
fmt cinepak.avi rgb24 -c:v cinepak -vf scale=160:88
fmt rpza.mov rgb555le -c:v rpza
enc smc.mov "${PALETTE[@]}" -c:v smc
enc raw-palette.avi "${PALETTE[@]}" -c:v rawvideo
fmt raw-rgb555.avi rgb555le -c:v rawvideo
fmt raw-rgb555.mov rgb555be -c:v rawvideo
fmt raw-two-tone.avi monow -c:v rawvideo
fmt raw-grey.avi gray -c:v rawvideo
fmt raw-grey16.mov gray16be -c:v rawvideo
fmt ffv1-grey.avi gray -c:v ffv1
enc cinema.mxf -frames:v 3 -pix_fmt xyz12le -c:v libopenjpeg -profile:v cinema2k -cinema_mode 2k_24 -vf scale=2048:1080

# Every one that NUT can name. Six pictures each.
mkdir -p formats .tmp/formats
for format in monow monob bgr8 rgb8 bgr4_byte rgb4_byte {rgb,bgr}{444,555,565}{le,be} gray{9,10,12,14,16}be ya8 \
    {rgb,bgr}48be {rgb,bgr}a64be gbr{p9,p10,p12,p14,p16,ap10,ap12,ap16}be yuv{420,422,444}p{9,10,12,14,16}be \
    yuva{420,422,444}p{9,10,16}be yuva{422,444}p12be xyz12le xyz12be; do
    enc "formats/$format.nut" -frames:v 6 -vf scale=160:90 -c:v rawvideo -pix_fmt "$format" -f nut
done
enc formats/pal8.nut "${PALETTE[@]}" -frames:v 6 -c:v rawvideo -f nut

# Large, and BT.601 all the same.
enc vp8-hd.webm -vf scale=1280:720 -frames:v 40 -c:v libvpx -threads 1 -deadline realtime -cpu-used 8 -g 20 -b:v 1500k
enc mpeg1-hd.mpg -vf scale=1280:720 -frames:v 40 -c:v mpeg1video -g 15 -q:v 4
enc flv1-hd.flv -vf scale=1280:720 -frames:v 40 -c:v flv -g 30 -q:v 4
enc theora-hd.ogv -vf scale=1280:720 -frames:v 40 -c:v libtheora -g 30 -q:v 7

# Recordings in which the tags change, 70 pictures each. 10 bits: 8-bit H.264 of full range is another pixel format to ffmpeg,
# which then scales.
for part in 601 709 full; do
    tags=(-frames:v 70 -colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m -color_range tv)
    case $part in
        709) tags=(-frames:v 70 -vf scale=out_color_matrix=bt709 -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv) ;;
        full) tags+=(-vf scale=out_range=full -color_range pc) ;;
    esac
    x264 parts/tags-h264-$part.ts keyint=24:open-gop=0 -pix_fmt yuv420p10le "${tags[@]}"
    x265 parts/tags-hevc-$part.ts keyint=24:open-gop=0 -pix_fmt yuv420p10le "${tags[@]}"
    [ $part = full ] || enc parts/tags-mpeg2-$part.ts -c:v mpeg2video -g 12 -bf 2 -q:v 4 -flags +cgop -sc_threshold 1000000000 "${tags[@]}"
done
wait
for codec in h264 hevc; do
    clip tags-$codec.ts cat_all parts/tags-$codec-{601,709,full}.ts
done
clip tags-mpeg2.ts cat_all parts/tags-mpeg2-{601,709,601}.ts

clip bad/rights.wmv asf_rights wmv2.wmv content
clip bad/rights-extended.wmv asf_rights wmv2.wmv extended
clip bad/rights.mkv matroska_rights vp8.webm
clip bad/rights.mp4 fairplay h264-closed.mp4
wait
