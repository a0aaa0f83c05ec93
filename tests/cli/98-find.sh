# barcode find: clips and their films, by sound. tests/find.py has many films.

# film NAME SEED: 40 s of tones that nobody else has, with a small picture.
film() {
    ffmpeg -nostdin -v error -f lavfi -i color=s=64x36:r=2:d=40 -f lavfi \
        -i "aevalsrc='0.2*sin(2*PI*t*(300+150*mod(floor(t*5)*$2*7,17)))+0.2*sin(2*PI*t*(2100+130*mod(floor(t*7)*floor(t*3+$2),23)))':s=48000:d=40" \
        -c:v mpeg4 -c:a ac3 -b:a 128k "$1"
}

library() {
    mkdir -p lib/more
    film lib/one.mkv 1
    film lib/two.mkv 2
    film lib/more/three.mkv 3
}

# clip_of FILM FROM NAME
clip_of() {
    ffmpeg -nostdin -v error -f lavfi -i color=s=64x36:r=2 -ss "$2" -i "$1" -map 0:v -map 1:a -t 8 -c:v mpeg4 -c:a libmp3lame -b:a 64k "$3"
}

finds() { # FILM START
    check holds "$LOGS/stdout" "j['film'] == '$1' and abs(j['start'] - $2) <= 0.1 and j['score'] >= j['needed']"
}

test_find() { # quick
    library
    clip_of lib/more/three.mkv 21.3 clip.mkv
    ok find clip.mkv lib --cache cache --json
    finds lib/more/three.mkv 21.3
    "$PYTHON" -c 'import json, sys; print("{score}, needed {needed}".format(**json.load(sys.stdin)))' < "$LOGS/stdout" > score
    ok find clip.mkv lib --cache cache
    grep -qx "0:00:21\.3 (score $(cat score))  lib/more/three\.mkv" "$LOGS/stdout" || fail "another line"
    ffmpeg -nostdin -v error -i clip.mkv -vn clip.mp3
    ok find clip.mp3 lib --cache cache --json
    finds lib/more/three.mkv 21.3
    rm lib/more/three.mkv
    refuses 1 find clip.mkv lib --cache cache
    says "'clip.mkv' is from no film of the library (2 films, "
    exits 1 find clip.mkv lib --cache cache --json
    grep -q '"film": null' "$LOGS/stdout" || fail "no JSON of a clip of no film"
    refuses 1 find clip.mkv lib/one.mkv --no-cache
    says "'clip.mkv' is from no film of the library (1 film, "
    grep -q 'keeping analysed frames' "$LOGS/stderr" && fail "it announces a folder that is removed"
    ok find --same lib/one.mkv lib/two.mkv --cache cache
    says '^barcode: no films of the library share their sound$'
    exits 3 find clip.mkv missing1 missing2 --cache cache
    says "cannot open 'missing2'"
}

# edited_clip NAME FILM:FROM:TO...: pieces of films, one after another.
edited_clip() {
    local name=$1 inputs=() graph='' n=0 film from to
    shift
    for piece in "$@"; do
        IFS=: read -r film from to <<< "$piece"
        inputs+=(-i "$film")
        graph+="[$n:a]atrim=$from:$to,asetpts=PTS-STARTPTS[p$n];"
        n=$((n + 1))
    done
    for ((i = 0; i < n; i++)); do graph+="[p$i]"; done
    ffmpeg -nostdin -v error -y "${inputs[@]}" -filter_complex "${graph}concat=n=$n:v=0:a=1" -c:a libmp3lame -b:a 96k "$name"
}

# parts FILM:FROM:TO...: those of the edit list, and no other, within 0.5 s.
parts() {
    printf '%s\n' "$@" | "$PYTHON" -c '
import json, sys
found, at = json.load(open(sys.argv[1]))["parts"], 0
want = [line.strip().split(":") for line in sys.stdin]
assert [p["film"] for p in found] == [w[0] for w in want], found
for p, (_, begin, end) in zip(found, want):
    length = float(end) - float(begin)
    assert abs(p["from"] - at) < 0.5 and abs(p["to"] - at - length) < 0.5, (p, at)
    assert abs(p["start"] - float(begin) - p["from"] + at) < 0.1, (p, begin)
    assert p["score"] >= p["needed"], p
    at += length' "$LOGS/stdout" || fail "other parts: $(cat "$LOGS/stdout")"
}

# A clip that spans cuts: each part has a line, in the order of the clip.
test_find_edited() {
    local one=lib/one.mkv two=lib/two.mkv
    library
    for list in "$one:2:14 $one:25:38" "$one:25:38 $one:2:9" "$one:20:32 $two:4:12" "$two:1:10 $one:30:39 $two:12:24"; do
        # shellcheck disable=SC2086  # pieces
        edited_clip clip.mp3 $list
        ok find clip.mp3 lib --cache cache --json
        # shellcheck disable=SC2086
        parts $list
    done
    ok find clip.mp3 lib --cache cache
    [ "$(wc -l < "$LOGS/stdout")" -eq 3 ] || fail "$(cat "$LOGS/stdout")"
    grep -qE '^0:00:(08\.[5-9]|09\.[0-4])-0:00:1[78]\.[0-9] of the clip: 0:00:(29|30)\.[0-9] \(score [0-9]*, needed [0-9]*\)  lib/one\.mkv$' \
        "$LOGS/stdout" || fail "$(cat "$LOGS/stdout")"
    # A clip of one piece has no parts.
    edited_clip clip.mp3 "$one:5:35"
    ok find clip.mp3 lib --cache cache --json
    check holds "$LOGS/stdout" "j['parts'] == []"
    finds $one 5
}

# The index is brought up to date, and made again when it is damaged.
test_find_index() {
    library
    clip_of lib/two.mkv 11.5 clip.mkv
    mv lib/two.mkv .
    refuses 1 find clip.mkv lib --cache cache -q
    mv two.mkv lib
    ok find clip.mkv lib --cache cache --json
    finds lib/two.mkv 11.5
    for damage in short empty changed gone; do
        for file in cache/*.landmarks; do
            case $damage in
                short) truncate -s -100 "$file" ;;
                empty) : > "$file" ;;
                changed) "$PYTHON" -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(300); f.write(b"damaged")' "$file" ;;
                gone) rm "$file" ;;
            esac
        done
        ok find clip.mkv lib --cache cache --json
        finds lib/two.mkv 11.5
        [ $damage = gone ] || says 'the index is damaged; it is made again'
    done
    ok find clip.mkv lib --cache cache --json
    [ ! -s "$LOGS/stderr" ] || fail "there are messages"
    ok --cache-clear --cache cache
    [ -z "$(find cache -name '*.landmarks')" ] || fail "the index is still there"
    ok find clip.mkv lib --no-cache --json -q
    finds lib/two.mkv 11.5
    ok --cache cache --cache-clear
    [ -z "$(find cache -name '*.landmarks')" ] || fail "--cache-clear leaves the index"
}

test_find_bad_input() {
    library
    refuses 2 find lib/one.mkv
    refuses 2 find --same
    refuses 3 find missing.mkv lib --cache cache
    echo no film > bad.mkv
    refuses 3 find bad.mkv lib --cache cache
    ffmpeg -nostdin -v error -i lib/one.mkv -an -c copy silent.mkv
    refuses 1 find silent.mkv lib --cache cache -q
    says "'silent.mkv' has no sound by which it could be found"
    exits 1 find lib/two.mkv lib --cache /proc/none -q
    says "cannot read the sound of 'lib/two.mkv' from the cache"
    mkdir none
    refuses 3 find lib/one.mkv none --cache cache -q
    # a film that fails is reported, and the others are searched
    cp bad.mkv lib
    clip_of lib/two.mkv 5.25 clip.mkv
    ok find clip.mkv lib --cache cache --json
    finds lib/two.mkv 5.25
    says bad.mkv
    # films are read in parts of 256: one that fails in the first counts
    mkdir many
    seq -f 'many/a%g.mkv' 100 355 | while read -r name; do echo no film > "$name"; done
    cp lib/one.mkv many/b.mkv
    exits 3 find --same many --cache cache -q
}

test_find_same() {
    library
    ok find --same lib --cache cache
    [ ! -s "$LOGS/stdout" ] || fail "films that are not the same"
    ffmpeg -nostdin -v error -ss 4.02 -i lib/one.mkv -c:v mpeg4 -c:a libmp3lame -b:a 96k -t 30 lib/copy.mkv
    for again in 1 2; do
        ok find --same lib --cache cache --json
        check holds "$LOGS/stdout" 'len(j["groups"]) == len(j["groups"][0]) == 1'
        check holds "$LOGS/stdout" '(p := j["groups"][0][0]) and (p["a"], p["b"]) == ("lib/copy.mkv", "lib/one.mkv") and
            abs(p["common"] - 30) < 2 and p["of_a"] > 0.95 and 0.7 < p["of_b"] < 0.8'
        cp "$LOGS/stdout" "run$again"
    done
    cmp run1 run2
    clip_of lib/one.mkv 20 clip.mkv
    ok find clip.mkv lib --cache cache
    sed 's/ (score [0-9]*, needed [0-9]*)//' "$LOGS/stdout" | sort > films
    printf '%s\n' '0:00:16.0  lib/copy.mkv' '0:00:20.0  lib/one.mkv' > both
    cmp both films || fail "not both films: $(cat films)"
    ok find clip.mkv lib --cache cache --json
    check holds "$LOGS/stdout" '[x["score"] >= j["needed"] for x in j["others"]] == [True]'
    check holds "$LOGS/stdout" '{j["film"], j["others"][0]["film"]} == {"lib/copy.mkv", "lib/one.mkv"}'
}

# A balanced microphone on a stereo jack: the channels cancel one another.
test_find_opposite_phase() {
    library
    clip_of lib/two.mkv 11.5 mono.mkv
    ffmpeg -nostdin -v error -i mono.mkv -af 'pan=stereo|c0=c0|c1=-1*c0' -c:v copy -c:a pcm_s16le opposite.mkv
    ok find opposite.mkv lib --cache cache --json
    finds lib/two.mkv 11.5
    ffmpeg -nostdin -v error -i lib/two.mkv -af 'pan=stereo|c0=c0|c1=-0.9*c0' -c:v copy -c:a libmp3lame -b:a 96k other.mkv
    mv other.mkv lib/two.mkv
    ok find mono.mkv lib --cache cache --json
    finds lib/two.mkv 11.5
}

# same FILM FILM EXPRESSION: these are a pair, of which the expression holds.
same() {
    check holds "$LOGS/stdout" "[p for g in j['groups'] for p in g if (p['a'], p['b']) == ('$1', '$2') and ($3)] != []"
}

# Silence is not common; a file is not a copy of itself; without sound, bytes are compared.
test_find_same_silence_and_links() {
    mkdir lib
    film lib/one.mkv 1
    ffmpeg -nostdin -v error -i lib/one.mkv -c:v copy -af "volume=0:enable='lt(t,15)+gt(t,25)'" -c:a ac3 lib/part.mkv
    ffmpeg -nostdin -v error -i lib/one.mkv -an -c:v copy lib/silent.mkv
    ln lib/one.mkv lib/hard.mkv
    ln -s one.mkv lib/soft.mkv
    cp lib/silent.mkv lib/twin.mkv
    sed 's/Lavf/Lavg/' lib/silent.mkv > lib/unlike.mkv
    ok find --same lib --cache cache --json
    says '^barcode: films without sound: 3, compared by their bytes only$'
    check holds "$LOGS/stdout" 'sorted(len(g) for g in j["groups"]) == [1, 1]'
    same lib/hard.mkv lib/part.mkv "abs(p['common'] - 10) < 1 and 0.2 < p['of_a'] < 0.3 and p['of_b'] > 0.95 and not p['identical']"
    same lib/silent.mkv lib/twin.mkv "p['identical'] and p['of_a'] == p['of_b'] == 1"
    ok find --same lib --cache cache
    [ "$(grep -c 'identical files, without sound' "$LOGS/stdout")" -eq 1 ] || fail "no identical files"
}
