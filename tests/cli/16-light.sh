# HDR and linear light, against numpy's arithmetic on ffmpeg's planes.

# hdr NAME TRANSFER FILTER [PARAMS]: lossless HEVC of a second, 320x180.
hdr() {
    ffmpeg -nostdin -v error -y -f lavfi -i "$3" -frames:v 24 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le \
        -x265-params "log-level=error:lossless=1:colorprim=bt2020:transfer=$2:colormatrix=bt2020nc${4:+:$4}" "$1"
}

reference() { # FILM JSON DUMP KIND
    "$PYTHON" "$HERE/light_reference.py" "$@" || fail "light_reference.py $*"
}

patches="color=black:s=320x180:r=24,format=yuv420p10le,geq=lum='64+floor(X/20)*58':cb='512+floor(Y/22)*40-160':cr='512+mod(floor(X/40)+floor(Y/45),5)*60-120'"
ramp="color=black:s=320x180:r=24,format=yuv420p10le,geq=lum='64+X*2.75':cb=512:cr=512"

test_hdr_is_mapped() {
    hdr patches-pq.mkv smpte2084 "$patches" max-cll=4000,400
    hdr patches-hlg.mkv arib-std-b67 "$patches"
    hdr ramp-pq.mkv smpte2084 "$ramp"
    ffmpeg -nostdin -v error -y -t 1 -i "$(clip film-480p.mp4)" -vf "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709,scale=640:360,zscale=t=linear:npl=400,format=gbrpf32le,zscale=p=bt2020,zscale=t=smpte2084:m=bt2020nc:r=tv:npl=400,format=yuv420p10le" \
        -c:v libx265 -preset ultrafast -x265-params "log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc" real-pq.mkv
    while read -r film kind peak; do
        for curve in bt2390 hable reinhard clip; do
            ok "$film" -n 12 --crop off --tone-map $curve --size 128x72 -m average --json l.json --dump l.rgb -o l.png
            says_not warning
            [ "$(check get l.json tone_map)" = $curve ] || fail "the JSON has tone_map $(check get l.json tone_map)"
            [ "$(check get l.json hdr_peak)" = "$peak" ] || fail "the JSON has the peak $(check get l.json hdr_peak), right is $peak"
            reference "$film" l.json l.rgb "$kind"
        done
        ok "$film" -n 12 --crop off --light linear --size 128x72 -m average --json l.json --dump l.rgb -o l.png
        reference "$film" l.json l.rgb "$kind"
        ok "$film" -n 12 --crop off --light linear --tone-map off --size 128x72 -m average --json l.json --dump l.rgb -o l.png
        reference "$film" l.json l.rgb sdr
    done <<'LIST'
patches-pq.mkv pq 4000
patches-hlg.mkv hlg 1000
ramp-pq.mkv pq 1000
real-pq.mkv pq 1000
LIST
}

test_hdr_peak() {
    hdr said.mkv smpte2084 "$ramp" "hdr10=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(20000000,50)"
    ok said.mkv -v -n 12 -o a.png
    says "is HDR (PQ), mapped to SDR by bt2390 from 2000 cd/m2"
    # MPEG-TS keeps it in the pictures alone, and a pipe's pictures are not looked at.
    ffmpeg -nostdin -v error -y -i said.mkv -c copy said.ts
    ok said.ts -v -n 12 -o b.png
    says "bt2390 from 2000 cd/m2"
    through said.ts - -n 12 -o c.png
    was 0
    says "cannot be probed in a pipe: assuming 1000 cd/m2"
    ok said.mkv -n 12 -o d.png --hdr-peak 1000 --dump d.rgb
    ok said.mkv -n 12 -o a.png --dump a.rgb
    cmp -s a.rgb d.rgb && fail "--hdr-peak changes nothing"
    ok said.mkv -v -n 12 -o e.png --tone-map off
    says "read without tone mapping: its colours will look flat"
    strings -n 8 a.png | grep -q hdr_peak || fail "the picture's text does not have the peak"
}

# wide NAME PRIMARIES: lossless SDR of a second.
wide() {
    ffmpeg -nostdin -v error -y -f lavfi -i "$patches" -frames:v 24 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le \
        -color_primaries "$2" -x265-params "log-level=error:lossless=1:colorprim=$2:transfer=bt709:colormatrix=bt2020nc" "$1"
}

test_wide_primaries_of_sdr() {
    for primaries in smpte432 bt2020; do
        wide $primaries.mkv $primaries
        for light in code linear; do
            ok $primaries.mkv -v -n 12 --crop off --light $light --size 128x72 -m average --json l.json --dump l.rgb -o l.png
            says "primaries $primaries are converted to bt709"
            [ "$(check get l.json primaries)" = $primaries ] || fail "the JSON has the primaries $(check get l.json primaries)"
            strings -n 8 l.png | grep -q "barcode:primaries" || fail "the picture's text does not have the primaries"
            reference $primaries.mkv l.json l.rgb sdr
        done
    done
    # What is said of HDR changes nothing; other primaries are another entry of the cache.
    ok bt2020.mkv -n 12 --cache c --dump a.rgb -o a.png
    ok bt2020.mkv -n 12 --tone-map off --dump b.rgb -o b.png
    cmp a.rgb b.rgb || fail "--tone-map off changes SDR"
    ok bt2020.mkv -n 12 --cache c --dump b.rgb --json b.json -o b.png
    [ "$(check get b.json cache)" = hit ] || fail "the cache does not serve it"
    cmp a.rgb b.rgb || fail "cold and warm differ"
    grep -qx "light=bt2390 1000 bt2020" c/* || fail "no entry of the cache has its primaries"
}

# A flat colour is zscale's, which has BT.1886 for bt709 and adapts the white of smpte431. Those near BT.709 stay.
test_wide_primaries_are_zscales() {
    for primaries in smpte432 smpte431 bt2020 bt709 smpte170m; do
        to=bt709
        [ $primaries != smpte170m ] || to=$primaries
        for colour in 0xc83c32 0x3cb43c 0x4050c0 0xc8c8c8; do
            ffmpeg -nostdin -v error -y -f lavfi -i "color=$colour:s=64x64:r=5:d=1,format=gbrp" -c:v ffv1 -color_primaries $primaries \
                -color_trc bt709 flat.mkv
            ok flat.mkv -m average --json f.json -o f.png --overwrite
            right=$(ffmpeg -nostdin -v error -i flat.mkv -frames:v 1 -vf "zscale=p=$to:t=bt709:m=gbr" -pix_fmt rgb24 -f rawvideo - |
                od -An -tu1 -N3 | sed 's/^ *//; s/  */, /g; s/.*/[&]/')
            [ "$(check get f.json columns.0.average)" = "$right" ] ||
                fail "$colour in $primaries is $(check get f.json columns.0.average), zscale has $right"
        done
    done
}

# Cold, warm, any number of threads and any instruction set; another curve is another entry.
test_light_and_the_cache() {
    f=$(clip pq.mkv)
    for options in "" "--tone-map hable" "--light linear" "--hdr-peak 400"; do
        # shellcheck disable=SC2206
        more=($options)
        ok "$f" -n 4 "${more[@]}" --cache c -m all -o cold.png
        ok "$f" -n 4 "${more[@]}" --cache c -m all -o warm.png --json warm.json
        [ "$(check get warm.json cache)" = hit ] || fail "the cache does not serve '$options'"
        cmp cold.png warm.png || fail "cold and warm differ with '$options'"
        for isa in base avx2; do
            BARCODE_ISA=$isa run "$f" -n 4 "${more[@]}" --no-cache --threads 1 -m all -o isa.png
            [ "$STATUS" -ne 0 ] && grep -q "does not have" "$LOGS/stderr" && continue
            cmp cold.png isa.png || fail "$isa gives another picture with '$options'"
        done
        cp cold.png "kept-${options// /}.png"
    done
    [ "$(md5sum kept-*.png | cut -d' ' -f1 | sort -u | wc -l)" -eq 4 ] || fail "two of the options give the same picture"
}

# SDR is as it was; --light linear averages light there too, and a flat colour stays what it is.
test_linear_light() { # quick
    f=$(clip bt2020.mkv)
    ok "$f" -n 20 -m average --dump a.rgb -o a.png
    says_not warning
    ok "$f" -n 20 -m average --dump b.rgb -o b.png --tone-map off --hdr-peak 500
    cmp a.rgb b.rgb || fail "options for HDR change SDR"
    ffmpeg -nostdin -v error -y -f lavfi -i "color=black:s=64x64:r=5:d=2,format=gbrp,geq=r=90:g=60:b=20" -c:v ffv1 flat.mkv
    ok flat.mkv --light linear -m average,squeeze --width 3 --json f.json -o f.png
    [ "$(check get f.json columns.0.average)" = "[90, 60, 20]" ] || fail "a flat colour became $(check get f.json columns.0.average)"
    ffmpeg -nostdin -v error -y -f lavfi -i "color=black:s=64x64:r=5:d=2,format=gbrp,drawbox=w=32:h=64:c=white:t=fill" -c:v ffv1 half.mkv
    ok half.mkv --light linear --crop off --size full -m average --json h.json -o h.png
    [ "$(check get h.json columns.0.average)" = "[191, 191, 191]" ] || fail "half black, half white is $(check get h.json columns.0.average)"
    ok half.mkv --crop off --size full -m average --json h.json -o h.png
    [ "$(check get h.json columns.0.average)" = "[128, 128, 128]" ] || fail "without it, it is $(check get h.json columns.0.average)"
}

# Each picture goes by its own transfer, with any number of threads, and by that transfer's peak: MaxCLL is PQ's alone.
test_hdr_changes_in_a_film() {
    hdr pq.ts smpte2084 "$ramp" keyint=12:max-cll=4000,400
    hdr hlg.ts arib-std-b67 "$ramp" keyint=12
    ffmpeg -nostdin -v error -y -f lavfi -i "$ramp" -frames:v 24 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le \
        -x265-params "log-level=error:lossless=1:keyint=12:colorprim=bt709:transfer=bt709:colormatrix=bt709" sdr.ts
    for f in pq hlg sdr; do
        ok $f.ts --every 1 --crop off --dump $f.rgb -o a.png
    done
    for parts in "pq sdr hlg pq" "sdr hlg sdr"; do
        # shellcheck disable=SC2086
        { for f in $parts; do cat $f.ts; done > mixed.ts; for f in $parts; do cat $f.rgb; done > right.rgb; }
        for threads in 1 3; do
            ok mixed.ts --every 1 --crop off --cache c --threads $threads --dump got.rgb -o a.png
            cmp got.rgb right.rgb || fail "'$parts' is not what its parts are, with $threads threads"
        done
    done
}
