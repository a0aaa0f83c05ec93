# Playlists, which name the files of a film: HLS, ffconcat, a Blu-ray's. They must not lead anywhere else.

# scene NAME COLOUR: a film of one second.
scene() {
    ffmpeg -nostdin -v error -y -f lavfi -i "color=$2:s=64x36:r=12:d=1" -c:v mpeg2video -f mpegts "$1"
}

# hls FILE ENTRY...
hls() {
    local file=$1
    shift
    { printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n'; printf '#EXTINF:1,\n%s\n' "$@"; echo '#EXT-X-ENDLIST'; } > "$file"
}

# master FILE PLAYLIST
master() {
    printf '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n%s\n' "$2" > "$1"
}

# ffconcat FILE ENTRY...
ffconcat() {
    local file=$1
    shift
    { echo 'ffconcat version 1.0'; printf "file '%s'\n" "$@"; } > "$file"
}

# refused FILE TEXT: not a film, for this reason; and the film elsewhere is neither opened nor painted.
refused() {
    LIMIT=20 refuses 3 "$1" --no-cache -n 1 -o made.png
    says "^barcode: '$1' $2$"
    [ ! -e made.png ] || fail "a picture of '$1'"
    command -v strace > /dev/null || return 0
    timeout 300 strace -f -e trace=open,openat,openat2 -o "$LOGS/trace" "$BARCODE" "$1" --no-cache -n 1 -o made.png 2> /dev/null || true
    grep -q "$1" "$LOGS/trace" || fail "strace does not see '$1'"
    ! grep -q 'secret\.ts' "$LOGS/trace" || fail "'$1' opens $(grep -m 1 'secret\.ts' "$LOGS/trace")"
}

# averages FILE...: the average colour of each column.
averages() {
    awk -F, 'FNR > 1 { print $5 }' "$@"
}

# A folder `list` with films and links, and a film beside it that its playlists must not reach.
make_folder() {
    mkdir -p elsewhere list/sub
    scene elsewhere/secret.ts red
    scene list/a.ts blue
    scene list/sub/b.ts green
    ln -s ../elsewhere/secret.ts list/link.ts
    ln -s ../elsewhere list/folder
}

test_playlists_stay_in_their_folder() {
    local out="is a playlist that names '.*': only relative names of files in its folder or below it are read"
    local other="is a playlist that names another one, '.*'"
    make_folder
    cd list || return
    for entry in "$PWD/../elsewhere/secret.ts" ../elsewhere/secret.ts sub/../../elsewhere/secret.ts link.ts folder/secret.ts \
        "file:$PWD/../elsewhere/secret.ts" file:../elsewhere/secret.ts "subfile,,start,0,end,0,,:../elsewhere/secret.ts" \
        "crypto:../elsewhere/secret.ts" "concat:../elsewhere/secret.ts" http://127.0.0.1:9/a.ts /dev/zero sub; do
        hls list.m3u8 a.ts "$entry"
        refused list.m3u8 "$out"
        ffconcat list.ffconcat a.ts "$entry"
        refused list.ffconcat "$out"
    done
    # what names a playlist
    hls far.m3u8 ../elsewhere/secret.ts
    hls good.m3u8 a.ts
    ffconcat good.ffconcat a.ts
    ln -s ../elsewhere/far.m3u8 link.m3u8
    hls ../elsewhere/far.m3u8 secret.ts
    for entry in ../elsewhere/far.m3u8 link.m3u8 "$PWD/../elsewhere/far.m3u8" far.m3u8; do
        master master.m3u8 "$entry"
        refused master.m3u8 "$out"
    done
    hls self.m3u8 a.ts good.ffconcat
    refused self.m3u8 "$other"
    master self.m3u8 self.m3u8
    refused self.m3u8 "$other"
    for entry in self.ffconcat good.ffconcat good.m3u8; do
        ffconcat self.ffconcat "$entry" a.ts
        refused self.ffconcat "$other"
    done
    # what only the demuxer finds
    printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI=../elsewhere/secret.ts\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n' > map.m3u8
    LIMIT=20 exits 3 map.m3u8 --no-cache -n 1 -m average -o map.png
}

test_playlists_without_end() { # quick
    make_folder
    cd list || return
    hls live.m3u8 a.ts
    sed -i /ENDLIST/d live.m3u8
    refused live.m3u8 "is a live playlist: it has no end"
    master master.m3u8 live.m3u8
    refused master.m3u8 "is a live playlist: it has no end"
}

# A text file in a film's dress is refused, and its neighbours are films.
test_playlists_by_other_names() { # quick
    local not="is a playlist, not a film (use --playlists to read the files that it names)"
    make_folder
    mkdir films
    hls films/holiday.mp4 "$PWD/elsewhere/secret.ts"
    ffconcat films/summer.mkv good.ts
    cp list/a.ts films/good.ts
    cd films || return
    refused holiday.mp4 "$not"
    refused summer.mkv "$not"
    cp summer.mkv summer.m3u8
    refused summer.m3u8 "$not"
    from holiday.mp4 - --no-cache -n 1 -o made.png
    was 3
    says "is a playlist, not a film"
    through holiday.mp4 - --no-cache -n 1 -o made.png
    [ "$STATUS" -ne 0 ] || fail "from a pipe"
    rm summer.m3u8
    cd .. || return
    exits 3 films --no-cache -n 1 -o made/
    says "'films/holiday.mp4' is a playlist"
    says "'films/summer.mkv' is a playlist"
    [ "$(ls made)" = good.png ] || fail "made $(ls made)"
    # with --playlists the name does not matter, but the folder does
    hls films/winter.mp4 good.ts
    ok films/summer.mkv --playlists --no-cache -n 1 --csv summer.csv
    ok films/winter.mp4 --playlists --no-cache -n 1 --csv winter.csv
    averages summer.csv | cmp - <(averages winter.csv)
    refuses 3 films/holiday.mp4 --playlists --no-cache -n 1 -o far.png
    says "only relative names of files in its folder or below it are read"
    refuses 3 - --playlists --no-cache -o far.png
    from films/summer.mkv - --playlists --no-cache -o far.png
    was 3
    says "is a playlist; give the name of its file"
}

test_playlists_by_their_names() { # quick
    make_folder
    ok list/a.ts --no-cache -n 1 --csv a.csv
    ok list/sub/b.ts --no-cache -n 1 --csv b.csv
    averages a.csv b.csv > want
    [ "$(wc -l < want)" -eq 24 ] || fail "$(wc -l < want) columns"
    hls list/list.m3u8 a.ts sub/b.ts
    hls list/old.M3U a.ts ./sub/b.ts
    master list/master.m3u8 list.m3u8
    ffconcat list/list.ffconcat a.ts sub/b.ts
    cp list/list.ffconcat list/any.txt
    ln -s list/list.m3u8 linked.m3u8
    for f in list/list.m3u8 list/old.M3U list/master.m3u8 list/list.ffconcat "list/any.txt --playlists" "$PWD/list/list.m3u8"; do
        # shellcheck disable=SC2086
        ok $f --strict --no-cache -n 1 --csv got.csv --overwrite
        averages got.csv | cmp - want
    done
    # the folder is that of the name
    refuses 3 linked.m3u8 --no-cache -o far.png
}

# The parts of a film are files that the user names, and no lists.
test_parts_are_no_playlists() {
    make_folder
    hls list/list.m3u8 a.ts
    refuses 3 --join list/a.ts list/list.m3u8 --no-cache -o made.png
    says "cannot join 'list/list.m3u8' to other files: it is a playlist$"
    hls list/holiday.ts "$PWD/elsewhere/secret.ts"
    refuses 3 --join list/a.ts list/holiday.ts --no-cache -o made.png
    says "'list/holiday.ts' is a playlist, not a film"
    ok --join elsewhere/secret.ts list/a.ts --no-cache -n 1 --csv join.csv
    for first in 1 3; do
        mkdir "frames$first"
        ffmpeg -nostdin -v error -f lavfi -i color=blue:s=64x36:r=12:d=1 "frames$first/%02d.png"
        hls "frames$first/0$first.png" "$PWD/elsewhere/secret.ts"
        run --sequence "frames$first" --no-cache -n 1 --csv "made$first.csv"
        # FFmpeg 7.1 goes on behind it: not the name of a playlist
        says "frames$first"
        [ ! -e "made$first.csv" ] || ! grep -i '#f[d-f]0000' "made$first.csv" || fail "a column is red"
    done
    # a clip of a Blu-ray
    mkdir -p BDMV/PLAYLIST BDMV/STREAM
    ln -s "$PWD/elsewhere/secret.ts" BDMV/STREAM/00001.m2ts
    printf 'MPLS0200\0\0\0\x10\0\0\0\0\0\0\0\x32\0\0\0\x01\0\0\0\x1400001M2TS\0\x01\0\0\0\xaf\xc8\0\x02\x0f\x58' > BDMV/PLAYLIST/00800.mpls
    refuses 3 BDMV/PLAYLIST/00800.mpls --no-cache -o made.png
    says "names 'BDMV/PLAYLIST/../STREAM/00001.m2ts', which is not a file of its disc$"
    [ ! -e made.png ] || fail "a picture"
}

# Demuxers that open a network, a device or files that they choose.
test_other_sources() { # quick
    printf 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n' > sdp.mp4
    printf '# VobSub index file, v7 (do not modify this line!)\nid: en, index: 0\n' > vobsub.mkv
    for kind in sdp vobsub; do
        f=$(echo $kind.*)
        refused "$f" "is not a film: it only names other sources ($kind)"
    done
    for name in rtp://127.0.0.1:9/a rtsp://127.0.0.1:9/a sap://127.0.0.1 udp://127.0.0.1:9 tcp://127.0.0.1:9 pipe:0 data:text/plain,x; do
        refuses 3 $name --no-cache -o made.png
    done
    if ffmpeg -nostdin -v error -demuxers | grep -q ' dash '; then
        printf '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-live:2011">\n</MPD>\n' > list.mpd
        refused list.mpd "is a playlist (dash), not a film; playlists of this kind are not read"
    fi
}

# A missing or empty segment is reported wherever it is, with as many missing columns as it has frames.
test_playlists_with_missing_segments() { # quick
    mkdir list
    for i in 1 2 3; do
        ffmpeg -nostdin -v error -f lavfi -i "color=blue:s=64x36:r=12:d=1" -c:v mpeg2video -output_ts_offset $i -f mpegts list/$i.ts
    done
    hls list/list.m3u8 1.ts 2.ts 3.ts
    ok list/list.m3u8 --strict --no-cache -n 1 -m average -o whole.png
    for i in 1 2 3; do
        mv list/$i.ts away
        ok list/list.m3u8 --no-cache -n 1 -m average -o out.png
        says "warning: 'list/list.m3u8': cannot open its part 'list/$i.ts': No such file or directory"
        says "12 of 36 columns are missing"
        ok list/list.m3u8 --no-cache --keyframes -m average -o keys.png
        says "cannot open its part 'list/$i.ts'"
        for options in "-n 1" "--columns 30" --keyframes; do
            # shellcheck disable=SC2086
            exits 1 list/list.m3u8 --strict --no-cache $options -m average -o strict.png
        done
        : > list/$i.ts
        exits 1 list/list.m3u8 --strict --no-cache -n 1 -m average -o strict.png
        says "its part 'list/$i.ts' is empty"
        mv away list/$i.ts
        ok list/list.m3u8 --no-cache --update -n 1 -m average -o out.png
        cmp whole.png out.png || fail "--update keeps the picture without $i.ts"
    done
    rm list/*.ts
    refuses 3 list/list.m3u8 --no-cache -o made.png
    says "cannot open 'list/list.m3u8': cannot open its part 'list/1.ts': No such file or directory$"
}

# Segments that end early: their frames against the sum of #EXTINF.
test_playlists_with_short_segments() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x36:r=25:d=10.2 -c:v mpeg2video -g 25 -f hls -hls_time 5 -hls_playlist_type vod list.m3u8
    ok list.m3u8 --strict --no-cache -n 1 -m average -o whole.png
    for i in 0 1; do
        cp list$i.ts whole
        truncate -s $((188 * 100)) list$i.ts
        exits 1 list.m3u8 --strict --no-cache -n 1 -m average -o strict.png
        mv whole list$i.ts
    done
}

# Made by the ffmpeg program with a key beside it.
test_encrypted_playlist() { # quick
    printf '0123456789abcdef' > key
    printf 'key\nkey\n' > key.info
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x36:r=12:d=2 -c:v mpeg2video -f hls -hls_playlist_type vod -hls_key_info_file key.info list.m3u8
    grep -q METHOD=AES-128 list.m3u8 || fail "$(cat list.m3u8)"
    master all.m3u8 list.m3u8
    for name in list all; do
        refuses 3 $name.m3u8 --no-cache -o made.png
        says "^barcode: '$name.m3u8' is encrypted$"
    done
}
