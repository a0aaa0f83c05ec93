# Two versions of a film on one axis: barcode align A B.

# Two tones that change every 0.15 s, never in the same way: SEED, and FROM on in seconds.
tones() {
    local noise="abs(mod(sin((floor((t+$2)/0.15)+$1)*12.9898)*43758.5453\\,1))"
    local other="abs(mod(sin((floor((t+$2)/0.15)+$1)*78.233)*12543.2391\\,1))"
    echo "aevalsrc=exprs='0.3*sin(2*PI*t*(300+2500*$noise))+0.2*sin(2*PI*t*(500+4000*$other))':s=16000:d=$3"
}

# film NAME PART...: a part is SEED:FROM:LENGTH, of tones and of moving waves.
film() {
    local name=$1 inputs=() graph='' n=0 part seed from length
    shift
    for part in "$@"; do
        IFS=: read -r seed from length <<< "$part"
        inputs+=(-f lavfi -t "$length" -i "$(tones "$seed" "$from" "$length")"
            -f lavfi -t "$length" -i "nullsrc=size=64x36:rate=5:duration=$length,geq=lum='128+110*sin(X/9+(T+$from)*0.9+$seed)*cos(Y/7-(T+$from)*0.37)':cb=128:cr=128")
        graph+="[$((2 * n + 1)):v][$((2 * n)):a]"
        n=$((n + 1))
    done
    ffmpeg -v error -y "${inputs[@]}" -filter_complex "${graph}concat=n=$n:v=1:a=1[v][a]" -map '[v]' -map '[a]' -c:v mpeg4 -q:v 5 \
        -c:a "${encoder:-aac}" -b:a 64k -f matroska "$name" < /dev/null
}

# segments FILE KIND:A_START:A_END:B_START:B_END...: exactly these, within $near seconds (0.3)
segments() {
    local file=$1
    shift
    printf '%s\n' "$@" | "$PYTHON" -c '
import csv, sys
want = [line.strip().split(":") for line in sys.stdin]
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["kind"] for r in rows] == [w[0] for w in want], rows
for r, w in zip(rows, want):
    for key, value in zip(("a_start", "a_end", "b_start", "b_end"), w[1:]):
        assert abs(float(r[key]) - float(value)) < float(sys.argv[2]), (key, value, r)
' "$file" "${near:-0.3}" || fail "other segments: $(cat "$file")"
}

# B has lost 15 s at 40 s, and has 10 s of another film at 80 s.
make_versions() {
    film a.mkv 0:0:120
    film b.mkv 0:0:40 0:55:25 5000:0:10 0:80:40
}

cut=(both:0:40:0:40 a:40:55:40:40 both:55:80:40:65 b:80:80:65:75 both:80:120:75:115)

test_align() { # quick
    make_versions
    mkdir tmp
    export TMPDIR=$PWD/tmp
    ok align a.mkv b.mkv -o both.csv -o both.json -o both.html -o both.edl --cache cache
    says "speed 1/1"
    segments both.csv "${cut[@]}"
    [ "$(find tmp -mindepth 1 | wc -l)" -eq 0 ] || fail "something is left in TMPDIR"
    [ "$(grep -c 'image/png;base64,iVBOR' both.html)" -eq 2 ] || fail "the page has no two strips"
    [ "$(grep -c 'class="miss"' both.html)" -eq 2 ] || fail "the page does not mark what is missing"
    ! grep -qE '(src|href)="?(https?:)?//|url\(' both.html || fail "the page loads something"
    [ "$(grep -cE '^00[0-9]  [AB] ' both.edl)" -eq 4 ] || fail "$(cat both.edl)"
    grep -qE '^003  B        V     C        00:01:05:0. 00:01:15:0. 00:01:05:0. 00:01:15:0.' both.edl || fail "$(cat both.edl)"
    # A name is text, not HTML.
    cp b.mkv "<i>&'\".mkv"
    ok align a.mkv "<i>&'\".mkv" -q -o name.html --cache cache
    grep -q "<span>B</span> &lt;i&gt;&amp;'&quot;.mkv<" name.html || fail "the name is not escaped"
    ! grep -q '<i>' name.html || fail "the name is not escaped"
    # A terminal gets the page's sentence before the rows. A pipe gets the rows alone.
    sentence='1:45 in both; only in A: 1 scene, 0:15.0; only in B: 1 scene, 0:10.0'
    grep -qE "<p>${sentence//.0/.[0-9]}</p>" both.html || fail "the page has another sentence"
    "$PYTHON" -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$BARCODE" align a.mkv b.mkv -q --cache cache < /dev/null > terminal
    grep -qF "$(grep -oE '<p>1:45 in both.*</p>' both.html | sed 's/<[^>]*>//g')" <(head -n 1 terminal) || fail "no sentence: $(cat terminal)"
    tail -n +2 terminal | tr -d '\r' | cmp - both.csv || fail "other rows on a terminal"
    ok align a.mkv b.mkv -q --cache cache
    cmp "$LOGS/stdout" both.csv || fail "a pipe gets more than rows"
    # The other way round, what is missing is in the other film. stdout is CSV.
    ok align b.mkv a.mkv -q --cache cache
    segments "$LOGS/stdout" both:0:40:0:40 b:40:40:40:55 both:40:65:55:80 a:65:75:80:80 both:75:115:80:120
    # Without a cache, and on one thread: the same bytes. Nothing but the outputs is left.
    ok align a.mkv b.mkv -q --no-cache --threads 1 -o again.csv
    cmp both.csv again.csv
    [ "$(find tmp -mindepth 1 | wc -l)" -eq 0 ] || fail "something is left in TMPDIR"
}

# Sound alone has times, but no pictures.
test_align_sound_alone() { # quick
    make_versions
    ffmpeg -nostdin -v error -i b.mkv -vn b.mp3
    ok align a.mkv b.mp3 --cache cache -o both.csv
    segments both.csv "${cut[@]}"
    refuses 3 align a.mkv b.mp3 -q --cache cache -o x.csv -o x.html
    says "'b.mp3' has no video stream, only sound"
    [ "$(echo x.*)" = "x.*" ] || fail "an output was written"
}

# To the frame, of which there are five a second. The film ends with its sound, which has other frames.
test_align_exact() { # quick
    make_versions
    ok align a.mkv b.mkv --exact -o exact.csv --no-cache
    says "2 of 2 edits placed by the pictures"
    sed -i '$d' exact.csv
    near=0.1 segments exact.csv "${cut[@]:0:4}"
}

# Other scenes at the same place, before what both have and after it. In B's edit list they are B's.
test_align_replaced() { # quick
    film a.mkv 9000:0:6 0:0:40 7000:0:12 0:60:40 7000:50:10 0:110:30 7000:90:5
    film b.mkv 8000:0:10 0:0:40 5000:0:9 0:60:40 5000:50:10 0:110:30
    ok align a.mkv b.mkv --exact -o both.csv -o both.edl --cache cache
    segments both.csv a:0:6:0:0 b:6:6:0:10 both:6:46:10:50 a:46:58:50:50 b:58:58:50:59 \
        both:58:98:59:99 a:98:108:99:99 b:108:108:99:109 both:108:138:109:139 a:138:143:139:139
    [ "$(grep -oE '^00[0-9]  [AB]' both.edl | tr -d '0-9 \n')" = BABABA ] || fail "$(cat both.edl)"
}

# 25/24 as fast, with and without its pitch.
test_align_pal() {
    make_versions
    for filter in asetrate=16667,aresample=16000 atempo=25/24; do
        ffmpeg -v error -y -i b.mkv -map 0:v -map 0:a -c:v copy -bsf:v setts=ts=TS*24/25 -af "${filter/25\/24/1.0416667}" -c:a aac -b:a 64k \
            pal.mkv < /dev/null
        ok align a.mkv pal.mkv --cache cache -o pal.csv -o pal.edl
        says "speed 25/24"
        segments pal.csv both:0:40:0:38.4 a:40:55:38.4:38.4 both:55:80:38.4:62.4 b:80:80:62.4:72 both:80:120:72:110.4
        grep -q '^M2   A' pal.edl || fail "the EDL has no speed"
    done
}

test_align_refuses() { # quick
    make_versions
    film other.mkv 9000:0:100
    refuses 1 align a.mkv other.mkv -o x.csv --no-cache -q
    says "'other.mkv' is another film than 'a.mkv': its score is [0-4]\.[0-9] %"
    refuses 1 align a.mkv "$(clip h264-open.mkv)" -o x.csv --no-cache -q
    says "h264-open.mkv' has no sound"
    [ ! -e x.csv ] || fail "an output was written"
    refuses 3 align a.mkv missing.mkv -q
    exits 3 align missing1 missing2
    says "cannot open 'missing2'"
    refuses 2 align a.mkv
    says "align needs two films"
    mkdir folder
    refuses 2 align a.mkv folder
    says "'folder' is a folder"
    refuses 2 align a.mkv b.mkv -o x.png
    says "'x.png' does not end in .html, .csv, .edl or .json"
    refuses 1 align a.mkv b.mkv -o missing/x.csv
    refuses 2 align a.mkv b.mkv --outpu x.csv
    says "did you mean --output"
    files a.mkv b.mkv other.mkv folder
}

# A film that is called align is not the command.
test_film_called_align() { # quick
    film align 0:0:3
    ok ./align -q --no-cache -o x.png
    [ -s x.png ] || fail "no picture"
}
