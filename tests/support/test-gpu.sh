#!/usr/bin/env bash
# Everything that needs a GPU: the exact checks, then whole films on both engines and with every way of decoding.
#
#   test-gpu.sh BIN      BIN holds barcode and the check programs; CLIPS (out/clips) and SAMPLE (out/sample.mkv) say where the
#                        made films are, BARCODE_FILMS names a folder of others, and ENGINE is what --engine gets (cuda; cuda:0,1)
#
# The last line counts; exit 1 when something failed, 77 when there is no GPU.
set -uo pipefail

bin=${1:?usage: test-gpu.sh BIN}
here=$(cd "$(dirname "$0")/../.." && pwd)
clips=${CLIPS:-$here/out/clips} sample=${SAMPLE:-$here/out/sample.mkv}
extra=$("$here/tests/support/films.sh") || exit 1
engine=${ENGINE:-cuda}
films=()
[ -z "$extra" ] || mapfile -t films <<< "$extra"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
export BARCODE_CACHE=-

for program in "$bin"/check_*; do
    [ -e "$program" ] || continue
    said=$("$program" 2>&1)
    case $? in
        0) passed=$((passed + 1)) && echo "ok    $(basename "$program"): $(tail -n 1 <<< "$said")" ;;
        77) echo "$said" && echo "SKIPPED: no GPU here" && exit 77 ;;
        *) failed=$((failed + 1)) && echo "FAIL  $(basename "$program")" && tail -n 20 <<< "$said" ;;
    esac
done

# render NAME OPTION...: pictures of every mode but the palette, without which restarts race (the JSON has all clusters), JSON without times and names of engines, staged frames.
render() {
    local name=$1
    shift
    rm -rf "${work:?}/$name"
    mkdir "$work/$name"
    "$bin/barcode" "$@" -m kmeans,dominant,average,squeeze -o "$work/$name/p.png" --json "$work/$name/j" \
        --dump "$work/$name/rgb" 2> "$work/$name.said" || return 1
    grep -o '^"decode": *"[^"]*"' "$work/$name/j" > "$work/$name.decode"
    sed -i -E '/^"(engine|decode|isa|threads|stages|cache)":/d' "$work/$name/j"
}

# What was to be decoded by NVDEC was, or the program said that it cannot be.
said_nvdec() {
    [[ "$*" != *"--decode nvdec"* ]] || grep -q nvdec "$work/other.decode" || grep -q 'software' "$work/other.said"
}

tally() { # STATUS TEXT [WHY, told of a failure]
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok    $2"
    else
        failed=$((failed + 1))
        echo "FAIL  $2${3:+: $3}"
    fi
}

compare() { # FILM WHAT OPTION...
    local film=$1 what=$2 status=0
    shift 2
    render other "$film" "$@" && said_nvdec "$@" && diff -rq "$work/cpu" "$work/other" > "$work/diff" || status=1
    tally $status "$(basename "$film"): $what" "$(head -n 3 "$work/diff" "$work/other.said" 2> /dev/null | tr '\n' ' ')"
}

# NVDEC conceals damage inside slices in its own way and does not tell: of a damaged film, the same columns, and other
# colours only in those that software says are damaged. Wrong bits that software does not notice either (in VP9, and one in
# each picture of wrong-bits.hevc) make other pictures: there the columns alone are compared.
compare_damaged() { # FILM WHAT OPTION...
    local film=$1 what=$2 verdict='' status=0
    shift 2
    render other "$film" "$@" && said_nvdec "$@" && verdict=$(python3 - "$work/cpu/j" "$work/other/j" "$film" << 'PY'
import json, sys
# The last line's comma is one too many where render() took a line away.
a, b = (json.loads(open(p).read().rstrip("}\n,") + "}")["columns"] for p in sys.argv[1:3])
same_columns = [c["frame"] for c in a] == [c["frame"] for c in b]
plain = [[{k: v for k, v in c.items() if k != "damaged"} for c in columns] for columns in (a, b)]
differ = [c for c, x, y in zip(a, *plain) if x != y]
told = [c for c in differ if c.get("damaged")]
print(f"{len(differ)} of {len(a)} columns differ, of {sum(bool(c.get('damaged')) for c in a)} damaged ones {len(told)}")
sys.exit(not same_columns or (len(told) < len(differ) and not sys.argv[3].endswith(("corrupt-vp9.webm", "wrong-bits.hevc"))))
PY
    ) || status=1
    tally $status "$(basename "$film") (damaged): $what: $verdict"
}

for film in "$sample" "${films[@]}" "$clips"/*.* "$clips"/damaged/*.*; do
    case $film in
        *.made) continue ;;
        "$clips"/damaged/*) how=compare_damaged ;;
        *) how=compare ;;
    esac
    if [ ! -f "$film" ]; then
        echo "SKIP  $film is not there"
        skipped=$((skipped + 1))
        continue
    fi
    if ! render cpu "$film" -n "${EVERY:-12}" --engine cpu --decode cpu; then
        echo "SKIP  $(basename "$film"): $(cat "$work/cpu.said")"
        skipped=$((skipped + 1))
        continue
    fi
    # MPEG-2 leaves the inverse transform's last bit to the decoder: NVDEC's pictures are others, and auto does not take it.
    case $("$bin/barcode" -v "$film" -q -n 1000000 -m average --json - -o /dev/null 2> /dev/null | grep -o '"codec":"[^"]*"') in
        *mpeg2video*) ways="cpu auto" ;;
        *) ways="cpu nvdec auto" ;;
    esac
    for way in $ways; do
        [ "$way" = cpu ] && judge=compare || judge=$how
        "$judge" "$film" "engine $engine, decode $way" -n "${EVERY:-12}" --engine "$engine" --decode "$way"
    done
    [ "$ways" = "cpu auto" ] || "$how" "$film" "engine cpu, decode nvdec" -n "${EVERY:-12}" --engine cpu --decode nvdec
done

[ "$skipped" -eq 0 ] || echo "test-gpu.sh: $skipped films were SKIPPED" >&2
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
