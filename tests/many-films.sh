#!/usr/bin/env bash
# many-films.sh - a long batch: 1,000 films of 2 s, a tenth of them damaged, one that crashes whoever reads it, a pipe and a film of
# no rights, in a tree of folders, in one call. All good ones must be right, each bad one told, memory flat. Then the same, killed
# (-9) at ten moments and taken up with --update: the same tree of pictures.
#
# BARCODE (out/bin/barcode), CRASHING (out/bin/bad-reads.so), FILMS (1000) and SEED of the moments come from the environment.
# The last line counts; exit 1 when a check failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
barcode=$(realpath "${BARCODE:-$top/out/bin/barcode}") || exit 1
crashing=$(realpath "${CRASHING:-$top/out/bin/bad-reads.so}") || exit 1
films=${FILMS:-1000}
RANDOM=${SEED:-1}
passed=0 failed=0
export BARCODE_CACHE=-
work=$(mktemp -d "${TMPDIR:-/tmp}/barcode-many.XXXXXX") || exit 1
trap 'chmod -R u+rw "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$work" || exit 1

check() { # WHAT COMMAND...
    local what=$1
    shift
    if "$@" > said 2>&1; then
        passed=$((passed + 1))
        echo "ok    $what"
    else
        failed=$((failed + 1))
        echo "FAIL  $what"
        head -n 20 said | sed 's/^/      /'
    fi
}

# ------------------------------------------------------------------ the films

UNLIKE=40          # that many different ones

make_film() { # NUMBER FILE OPTION...
    ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=160x90:rate=12:duration=2,hue=h=$(($1 * 9)):s=$(($1 % 3 + 1))" -g 6 "${@:3}" -y "$2" || exit 1
}

mkdir -p unlike films/{a,b,c/deep}
for ((i = 0; i < UNLIKE; i++)); do
    case $((i % 4)) in
        0) make_film $i unlike/$i.mkv -c:v libx264 -preset ultrafast ;;
        1) make_film $i unlike/$i.mp4 -c:v libx264 -preset ultrafast -bf 2 ;;
        2) make_film $i unlike/$i.ts -c:v mpeg2video -q:v 4 -r 25 ;;
        3) make_film $i unlike/$i.avi -c:v mpeg4 -q:v 4 ;;
    esac
done

# Five ways to be bad, in turn.
spoil() { # NUMBER FROM TO
    local size
    size=$(stat -c %s "$2")
    case $(($1 % 5)) in
        0) head -c $((size / 2)) "$2" > "$3" ;;
        1) cp "$2" "$3" && dd if=/dev/urandom of="$3" bs=1 seek=$((size / 3)) count=$((size / 3)) conv=notrunc status=none ;;
        2) : > "$3" ;;
        3) echo "this is no film" > "$3" ;;
        4) tail -c $((size / 2)) "$2" > "$3" ;;
    esac
}

folders=(films films/a films/b films/c/deep)
for ((i = 0; i < films; i++)); do
    from=$(echo unlike/$((i % UNLIKE)).*)
    to=${folders[i % 4]}/e$i.${from##*.}
    if ((i % 10 == 7)); then
        spoil $((i / 10)) "$from" "${to/e$i/bad$i}"
    else
        cp "$from" "$to"
    fi
done
cp unlike/0.mkv films/b/crash.mkv
cp unlike/0.mkv films/b/secret.mkv
chmod 0 films/b/secret.mkv
mkfifo films/b/pipe.mkv
good=$(find films -name 'e*' | wc -l)
bad=$(find films -name 'bad*' | wc -l)

# ------------------------------------------------------------------ one call

mkdir whole resumed
"$barcode" unlike -m average -n 6 -j 1 -q -o alone/ || exit 1

# Root's rights would open the film of no rights.
plain=()
if [ "$(id -u)" -eq 0 ]; then
    plain=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    cp "$barcode" barcode && cp "$crashing" crashing.so      # which may lie where only root may read
    barcode=$work/barcode crashing=$work/crashing.so
    chown -R 65534:65534 "$work"
fi
batch() { # FOLDER ARG...
    exec "${plain[@]}" env LD_PRELOAD="$crashing" CRASHING_READ=crash.mkv "$barcode" -r films -m average -n 6 -o "$1" "${@:2}"
}

began=$SECONDS
(batch whole --report report --bench) > bench 2> told
status=$?
echo "$((good + bad + 2)) films in $((SECONDS - began)) s: $(tail -n 1 told)"

is_status() { [ "$status" -eq 1 ] || [ "$status" -eq 3 ]; }
check "the exit status is that of a film that failed" is_status

all_right() {
    python3 - "$films" "$UNLIKE" << 'PY'
import sys
def image(path):          # without the text, which names the film
    data = open(path, "rb").read()
    at, parts = 8, b""
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        if kind in (b"IHDR", b"IDAT"):
            parts += data[at + 8:at + 8 + size]
        at += size + 12
    return parts
films, unlike = map(int, sys.argv[1:])
alone = [image(f"alone/{i}-average.png") for i in range(unlike)]
folder = ("", "a/", "b/", "c/deep/")
wrong = [i for i in range(films) if i % 10 != 7 and image(f"whole/{folder[i % 4]}e{i}-average.png") != alone[i % unlike]]
assert len(set(alone)) == unlike, "the films are not unlike each other"
assert not wrong, f"wrong: {wrong[:20]}"
PY
}
check "$good good films have the pictures that each has alone" all_right

each_bad_one_told() {
    python3 - "$bad" << 'PY'
import json, sys
lines = [json.loads(line) for line in open("report", encoding="utf-8")]
names = [line["film"] for line in lines]
assert len(names) == len(set(names)), "a film has two lines"
bad = [line for line in lines if "/bad" in line["film"]]
assert len(bad) == int(sys.argv[1]), f"{len(bad)} bad films are in the report"
silent = [line["film"] for line in bad if line["status"] == "done" and not line["warnings"]]
assert not silent, f"nothing is said of {silent}"
for name, word in (("crash", "crashed: Segmentation fault"), ("secret", "Permission denied")):
    line = next(line for line in lines if line["film"].endswith(f"/{name}.mkv"))
    assert line["status"] == "failed" and word in line["reason"], line
good = [line for line in lines if "/e" in line["film"]]
unlike = [line for line in good if line["status"] != "done" or line["warnings"]]
assert not unlike, f"of good films: {unlike[:3]}"
PY
}
check "each of $bad bad ones is told, the crash and the film of no rights with their reasons" each_bad_one_told
check "a pipe in a folder is no film" bash -c '! grep -q pipe.mkv report && [ ! -e whole/b/pipe-average.png ]'

memory_is_flat() {
    python3 << 'PY'
import json
peak = [json.loads(line)["peak_memory"] for line in open("bench", encoding="utf-8")]
# A crash begins a process anew, whose peak is its own.
early, late = max(peak[:len(peak) // 5]), max(peak)
print(f"{early / 1e6:.0f} MB after a fifth of the films, {late / 1e6:.0f} MB in the end")
assert late < 1.25 * early
PY
}
check "memory is flat" memory_is_flat

# ------------------------------------------------------------------ killed and resumed

met=0
for ((k = 0; k < 10; k++)); do
    batch resumed --update -q > /dev/null 2>&1 &
    pid=$!
    sleep "0.$((RANDOM % 900 + 100))"
    kill -KILL $pid 2> /dev/null && met=$((met + 1))
    wait $pid 2> /dev/null
    made=$(find resumed -name '*.png' | wc -l)
done
echo "$made pictures were there after ten kills, of which $met met it at work"
(batch resumed --update -q) > /dev/null 2>&1
find whole resumed -name '.*.tmp' -delete      # a kill leaves the one that was being written
check "killed at ten moments and taken up: the same tree of pictures" diff -r whole resumed
check "the kills met it at work" [ "$met" -ge 3 ]

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
