#!/usr/bin/env bash
# make-film.sh WIDTHxHEIGHT SECONDS [ENCODER-OPTION...] OUT.mp4 - a film to test and measure on, so that no real one is needed.
#
# Six shots of equal length with hard cuts, 24 pictures a second, without sound: clouds over land out of black, a zoom into the
# Mandelbrot set, a test card that flies over rock, a game of life on a dim floor, a zoom out from the ground, and a pan at
# night; grain over all of them. The grounds are sums of noise, each finer than the one before and weaker, as in photographs.
# Contrasts are such that a cached frame takes as much, and k-means sees as many colours and takes as long, as of Big Buck Bunny.
# H.264 with untagged colour, High profile; the same bytes each time from one version of the ffmpeg program.
set -eu

[ $# -ge 3 ] || { echo "usage: make-film.sh WIDTHxHEIGHT SECONDS ENCODER-OPTION... OUT.mp4" >&2; exit 2; }
W=${1%x*} H=${1#*x} PICTURES=$((24 * $2)) out=${!#}
options=("${@:3:$#-3}")
SHOTS=6
LENGTH=$((PICTURES / SHOTS))
WIDE=$((W * 3 / 2 & ~1)) HIGH=$((H * 3 / 2 & ~1))     # a ground is half as large again as the picture, to pan over

# ground SEED SPARED LUMA CONTRAST CB CR COLOURFULNESS: the part of a filter graph that makes a still of WIDE x HIGH, and shows
# it for ever. SPARED: how many of the finest noises are left out.
ground() {
    local cells=8 weight=64 names='' weights='' count=0
    while [ $((cells << $2)) -lt "$WIDE" ]; do
        printf 'color=gray:s=%dx%d,format=yuv444p,noise=alls=100:all_seed=%d,' $cells $((cells * 5 / 8)) $(($1 + count))
        printf 'trim=end_frame=1,scale=%dx%d:flags=bicubic[g%d_%d];' $WIDE $HIGH "$1" "$count"
        names+="[g$1_$count]" weights+="$weight "
        cells=$((cells * 2)) count=$((count + 1)) weight=$((weight * 11 / 20 + 1))
    done
    printf '%smix=inputs=%d:weights=%s,' "$names" $count "${weights% }"
    printf 'lutyuv=y=(val-128)*%s+%s:u=(val-128)*%s+%s:v=(val-128)*%s+%s,' "$4" "$3" "$7" "$5" "$7" "$6"
    printf 'format=yuv420p,loop=-1:1,setpts=N/24/TB,fps=24'
}

# shot GRAIN: the part of a graph that makes a shot of what comes in.
shot() {
    printf 'scale=%d:%d,format=yuv420p,setsar=1,noise=alls=%s:allf=t:all_seed=3,trim=end_frame=%d,setpts=N/24/TB' "$W" "$H" "$1" $LENGTH
}

# Speeds are shares of the picture for the whole shot: P goes from 0 to 1. Past 1 the fifth shot is smaller than its crop, which
# corrupts the heap of FFmpeg 9, so that shot is trimmed before it is scaled.
P="n/$LENGTH"
graph="
$(ground 1 6 170 1.2 140 122 0.12)[clouds]; $(ground 20 0 95 1.6 112 124 0.12)[land];
[clouds]crop=$W:$H/2:x='$W/4*$P':y=0,pad=$W:${H}[sky]; [land]crop=$W:$H/2:x='$W/2*$P':y=0[hills];
[sky][hills]overlay=0:H/2:shortest=1,$(shot 5)[s1];

mandelbrot=s=$((W / 2 & ~1))x$((H / 2 & ~1)):r=24:maxiter=1200:end_pts=$((LENGTH * 5 / 2)),$(shot 5)[s2];

$(ground 40 0 120 1.8 122 136 0.15)[rock]; testsrc2=s=$((W / 4 & ~1))x$((H / 4 & ~1)):r=24[card];
[rock]crop=$W:$H:x='$W/4*(1+sin(5*$P))':y='$H/3*$P'[cliff];
[cliff][card]overlay='W*$P':'(H-h)*abs(sin(4*$P))':shortest=1,$(shot 5)[s3];

$(ground 60 1 80 1.6 136 124 0.12)[floor]; [floor]crop=$W:${H}[stage];
life=s=160x90:mold=20:r=24:ratio=0.3:seed=5:death_color=0x803020:life_color=0xE0E080,scale=$W:$H,format=yuv420p[life];
[stage][life]mix=weights=3 2:duration=shortest,$(shot 5)[s4];

$(ground 80 1 130 1.8 116 133 0.2)[coloured];
[coloured]trim=end_frame=$LENGTH,scale=w='2*trunc($W*(3-$P)/4)':h='2*trunc($H*(3-$P)/4)':eval=frame,crop=$W:$H:exact=1,$(shot 5)[s5];

$(ground 100 0 50 0.9 142 124 0.15)[dark]; [dark]crop=$W:$H:x='$W/2*(1-$P)':y='$H/4*$P',$(shot 8)[s6];

[s1][s2][s3][s4][s5][s6]concat=n=$SHOTS,fade=in:0:$((PICTURES / 20))"

ffmpeg -nostdin -hide_banner -v error -y -filter_complex "$graph" -c:v libx264 -threads 4 "${options[@]}" "$out"
