# Which of a frame's colours the picture shows, and where.

# Eight seconds of two fields of near the same size: which is the larger changes with every other frame.
flickering() {
    ffmpeg -nostdin -v error -y -f lavfi -i "color=c=0x3050b0:s=160x90:r=25:d=8" -vf \
        "drawbox=w=78:h=90:c=0xb07030:t=fill,drawbox=w=82:h=90:c=0xb07030:t=fill:enable='mod(floor(n/2),2)'" -c:v ffv1 flickering.mkv
}

test_steady() { # quick
    flickering
    ok flickering.mkv -n 1 --json plain.json -o plain.png
    check picture plain.png plain.json kmeans
    ok flickering.mkv -n 1 --steady --json steady.json -o steady.png
    check picture steady.png steady.json kmeans
    check steady steady.json
    cmp plain.png steady.png && fail "--steady changes nothing where two colours take turns"
    "$PYTHON" - <<'PY' || fail "the picture still flickers"
import json
def shown(name):
    return [c["colours"][c.get("chosen", 0)]["rgb"] for c in json.load(open(name))["columns"]]
jumps = lambda colours: sum(max(abs(x - y) for x, y in zip(a, b)) > 30 for a, b in zip(colours, colours[1:]))
plain, steady = jumps(shown("plain.json")), jumps(shown("steady.json"))
print(f"jumps: {plain} without, {steady} with --steady")
assert plain > 50 and steady == 0
PY
    ok flickering.mkv -n 1 --steady=0 -o zero.png
    cmp plain.png zero.png || fail "--steady=0 is not the largest cluster"
}

# By the definition, on films with cuts, few colours, lost pictures, and frames that fill several columns.
test_steady_by_its_definition() {
    decoded_once
    f=$(sample)
    for p in 3 10 50; do
        ok "$f" -n 5 --n-init 3 --steady=$p --json s.json -o s.png
        check picture s.png s.json kmeans
        check steady s.json
    done
    ok "$(clip h264-open.mkv)" --columns 700 -k 5 --n-init 3 --steady --json s.json -o s.png
    check steady s.json
    ok "$(clip vfr.mkv)" --interval 0.02 -k 64 --n-init 1 --size 96 --steady --json s.json -o s.png
    check steady s.json
    g=$(clip h264-closed.mkv)
    cp "$g" damaged.mkv
    dd if=/dev/urandom of=damaged.mkv bs=1000 seek=$(($(stat -c %s damaged.mkv) / 3000)) count=40 \
        conv=notrunc status=none
    ok damaged.mkv -n 1 --n-init 3 --steady --json s.json -o s.png
    check steady s.json
}

# same_every_way ARG...: the sample film, with any number of threads, and with a cold and a warm cache: 1.png and 1.json.
same_every_way() {
    [ -e film.mkv ] || cp -p "$(sample)" film.mkv
    local way number=0
    for way in "--threads 1" "--threads 2" "--threads 5" "--cache kept" "--cache kept"; do
        number=$((number + 1))
        # shellcheck disable=SC2086  # words
        ok film.mkv "$@" $way --json $number.json -o $number.png
        cmp 1.png $number.png || fail "another picture with $way, run $number"
        check same 1.json $number.json
    done
    [ "$(check get $number.json cache)" = hit ] || fail "the last run does not use the cache"
}

# The choice is made of all columns, whoever clustered them and wherever their frames came from.
test_steady_same_bytes() { same_every_way -n 7 --n-init 3 --steady; }

# The mode by its definition; k has no part in it.
test_dominant() {
    f=$(sample)
    ok "$f" -n 40 -m dominant --size 48 --json d.json --dump d.rgb -o d.png
    check picture d.png d.json dominant
    check shape d.json
    check dominant d.json d.rgb
    grep -q '"colours"' d.json && fail "the JSON of dominant alone has colours"
    head -c 4096 d.png | tr '\0' ' ' | grep -aq 'barcode:mode dominant' || fail "the PNG does not say its mode"
    head -c 4096 d.png | tr '\0' ' ' | grep -aq 'barcode:k ' && fail "the PNG tells a k that had no part in it"
    for k in 2 5; do
        ok "$f" -n 40 -m dominant,kmeans -k $k --n-init 1 --size 48 -o both.png
        cmp d.png both-dominant.png || fail "-k $k changes the mode"
    done
    ok "$f" -n 6 -m dominant --json j.json -o full.png
    ok "$f" -n 6 -m dominant --width 100 --height 90 -o narrow.png
    check narrow narrow.png j.json dominant
}

test_dominant_steady() {
    flickering
    ok flickering.mkv -n 1 -m dominant --json plain.json -o plain.png
    ok flickering.mkv -n 1 -m dominant --steady --json steady.json -o steady.png
    check picture steady.png steady.json dominant
    check steady steady.json modes mode
    "$PYTHON" - <<'PY' || fail "the picture still flickers"
import json
def jumps(name):
    shown = [c["dominant"] for c in json.load(open(name))["columns"]]
    return sum(max(abs(x - y) for x, y in zip(a, b)) > 30 for a, b in zip(shown, shown[1:]))
print(f"jumps: {jumps('plain.json')} without, {jumps('steady.json')} with --steady")
assert jumps("plain.json") > 50 and jumps("steady.json") == 0
PY
    ok flickering.mkv -n 1 -m dominant --steady=0 -o zero.png
    cmp plain.png zero.png || fail "--steady=0 is not the first mode"
    for p in 3 50; do
        same_every_way -n 5 -m dominant --steady=$p
        check steady 1.json modes mode
    done
    ok film.mkv -n 5 -m dominant,kmeans --n-init 3 --steady=50 -o both.png
    cmp 1.png both-dominant.png || fail "clusters change the choice of modes"
}

test_dominant_same_bytes() {
    cp -p "$(sample)" film.mkv
    ok film.mkv -n 7 -m average --cache kept -o average.png
    same_every_way -n 7 -m dominant
    [ "$(check get 4.json cache)" = hit ] || fail "another mode needs the film again"
}

test_palette_order() {
    f=$(sample)
    ok "$f" -n 30 --n-init 3 -m palette --json p.json -o p.png
    check picture p.png p.json palette lightness
    ok "$f" -n 30 --n-init 3 -m palette --order lightness -o q.png
    cmp p.png q.png || fail "the palette is not by lightness of itself"
    ok "$f" -n 30 --n-init 3 -m palette --order share --json s.json -o s.png
    check picture s.png s.json palette share
    check same p.json s.json
    head -c 4096 s.png | tr '\0' ' ' | grep -aq 'barcode:order share' || fail "the PNG does not say by what its palette is ordered"
    refuses 2 "$f" --order hue
}

# A picture narrower than its columns: no dominant colour that no frame has, palettes of all clusters, means of means.
test_fewer_pixels_than_columns() {
    decoded_once
    f=$(sample)
    ok "$f" -n 6 --n-init 3 --json j.json -o full.png
    for w in 1 100 356; do
        ok "$f" -n 6 --n-init 3 -m kmeans,palette,average --height 180 --width $w -o narrow.png
        check narrow narrow-kmeans.png j.json kmeans
        check narrow narrow-palette.png j.json palette
        check narrow narrow-average.png j.json average
        ok "$f" -n 6 --n-init 3 -m palette --order share --width $w -o share.png
        check png share.png $w 800
    done
    ok "$f" -n 6 --n-init 3 --steady --width 100 --json steady.json -o steady.png
    check narrow steady.png steady.json kmeans
    ok "$f" -n 6 --n-init 3 --width 1500 -o wide.png
    check narrow wide.png j.json kmeans
}

test_narrow_same_bytes() {
    same_every_way -n 5 --n-init 3 --steady -m all --width 120
    for set in base avx2 vnni; do
        BARCODE_ISA=$set run film.mkv -n 5 --n-init 3 --steady -m all --width 120 -o $set.png
        [ "$STATUS" -ne 0 ] || cmp 1.png $set.png || fail "BARCODE_ISA=$set gives another picture"
    done
}

# Without tags the matrix is a guess by the film's size, not by that of each frame.
test_colours_of_changing_sizes() {
    for codec in libvpx-vp9 libaom-av1; do
        for size in 1280x720 352x288; do
            ffmpeg -nostdin -v error -y -f lavfi -i color=0xe04020:s=$size:r=5 -frames:v 3 -c:v $codec -cpu-used 8 -b:v 0 -crf 5 $size.mkv ||
                skip "no encoder $codec"
        done
        for order in "1280x720 352x288" "352x288 1280x720"; do
            for size in $order; do echo "file $size.mkv"; done > list.txt
            ffmpeg -nostdin -v error -y -f concat -i list.txt -c copy both.mkv
            ok both.mkv -n 1 -m average --csv both.csv -q --no-cache --overwrite -o both.png
            "$PYTHON" -c 'import csv
rows = [[int(row["average"][i:i + 2], 16) for i in (1, 3, 5)] for row in csv.DictReader(open("both.csv"))]
assert len(rows) == 6, len(rows)
assert all(max(channel) - min(channel) < 4 for channel in zip(*rows)), rows' || fail "$codec: the colours of $order differ"
        done
    done
}

# Two seconds: one in which nothing is visible, then blue on the right, with red hidden on the left.
overlay() { # FILE ARG...
    local to=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i "color=c=0x0000ff:s=64x36:r=8:d=2" -vf "format=rgba,\
geq=r='if(lt(X,32),255,0)':g=0:b='if(lt(X,32),0,255)':a='if(gte(T,1)*gte(X,32),255,0)'${FILTER:-}" "$@" "$to"
}

# Hidden colours do not show, and a frame without any visible pixel is a missing column, not damage.
test_alpha() { # quick
    overlay prores.mov -c:v prores_ks -pix_fmt yuva444p10le -alpha_bits 16
    overlay qtrle.mov -c:v qtrle -pix_fmt argb
    overlay png.mov -c:v png
    overlay png16.mov -c:v png -pix_fmt rgba64be
    FILTER=",split[a][b];[a]palettegen[p];[b][p]paletteuse" overlay palette.gif
    overlay ffv1.mkv -c:v ffv1 -pix_fmt yuva420p
    if ldd "$BARCODE" | grep -q libvpx; then
        overlay vp8.webm -c:v libvpx -auto-alt-ref 0 -pix_fmt yuva420p
        overlay vp9.webm -c:v libvpx-vp9 -pix_fmt yuva420p
    fi
    touch -d '1 minute ago' ./*
    local names=status,average,dominant,colour_N
    for f in *; do
        for run in cold warm; do
            ok "$f" -n 1 -m kmeans,dominant --n-init 1 --size 32 --strict --cache kept --csv $run.csv --csv-columns $names -o a.png
            says "'$f': 8 of 16 columns are transparent"
            says_not warning
        done
        cmp cold.csv warm.csv || fail "$f: the cache gives other columns"
        ok "$f" -n 1 --light linear --csv linear.csv --csv-columns $names -o a.png
        "$PYTHON" - "$f" <<'PY' || fail "$f: hidden colours show"
import csv, sys
for name in "cold.csv", "linear.csv":
    rows = list(csv.DictReader(open(name)))
    assert [r["status"] for r in rows] == ["missing"] * 8 + ["ok"] * 8, rows
    for row in rows[8:]:
        for column in row:
            if column in ("average", "dominant") or column.startswith("colour"):
                rgb = bytes.fromhex(row[column].lstrip("#"))
                assert not rgb or (rgb[0] < 12 and rgb[1] < 12 and rgb[2] > 240), (column, row)
PY
    done
    ok qtrle.mov -n 1 -m average --json a.json -o a.png
    [ "$(grep -c '"transparent": *true' a.json)" -eq 8 ] || fail "the JSON does not mark what is transparent"
    [ "$(check get a.json missing)" = 0 ] || fail "transparent columns count as missing"
    ffmpeg -nostdin -v error -y -i qtrle.mov -t 1 -c copy nothing.mov
    refuses 1 nothing.mov -n 1 --no-cache -o a.png
    says "all selected frames of 'nothing.mov' are transparent"
}

# The fourth byte of 32-bit BI_RGB in AVI is reserved: the film is opaque.
test_reserved_byte() {
    overlay reserved.avi -c:v rawvideo -pix_fmt bgra
    ok reserved.avi -n 1 -m average --csv a.csv -o a.png
    grep -q missing a.csv && fail "columns are missing"
    grep -q '#800080' a.csv || fail "the left half is missing"
}
