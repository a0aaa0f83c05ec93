#!/usr/bin/env bash
# Tests and measures on a GPU, in parts that each fit a call of ten minutes; prints figures and verdicts.
#
#   gpu-session.sh PACK PART...      PACK: the folder that pack-gpu.sh made
#
# `The film` is the one that the pack's file bench-film names: a real one of 1080p where the pack was made with BARCODE_FILMS
# that has one, else the bench's made one.
#
#   checks     the check programs, with frames of the film and of more than 2^24 pixels; 200 films in one process
#   sanitize   compute-sanitizer's four tools on them; what they found, by place
#   films      every film on both engines and with every way of decoding (test-gpu.sh)
#   cache      cold, warm and no cache: the same pictures and JSON, three k, every mode
#   odd        films of odd sizes, down to 1x1: the same pictures from NVDEC as from software
#   trim       films with bars, HDR, and the options on the picture: the same files from either engine and decoder
#   gpus       the second GPU, and a list of GPUs: every film alone in every way gives the CPU's files
#   gpus-folders  the same of folders, with a worker for each GPU: the same bytes, also when one worker is killed
#   gpus-films the part `films` on the second GPU
#   gpus-folders-speed  folders of as many clips as COUNTS names (24 100 300 1000), and of 24 films of 10 minutes: two GPUs against one with
#              half of the cores; of 1,000 clips at least 1.8 times as fast are wanted
#   rates      k-means alone on the GPU; ncu's share of the issue slots
#   keeping    what keeping frames costs: 20 minutes on two cores, with the cache and without
#   default    2 hours at the default, with -n 24, and with previews, in turns
#   speed      staging and whole process, H.264 and HEVC, 2 hours (run_gpu.sh)
#   auto       from which length on a GPU pays; warm runs of 2 hours
#   folders    100 copies of the film; 24 and 100 of HEVC; 8 of every film, and of those in the folder ENCODES: against films of their sums
#   encodes    half an hour of each MP4 in the folder ENCODES: NVDEC with software, either alone; the same pictures
#   shots      the shots of every film in every way: the same lists; 2 hours with and without, in turns
#   sound      the sound of every film by either engine: the same files; two hours of sound alone and of a film with sound, in turns, also
#              by the older program that OLD names, if it is set
#   sandbox    every film on either engine with --sandbox=require and off: the same files; what the sandbox refuses; its time
set -uo pipefail

pack=$(cd "${1:?usage: gpu-session.sh PACK PART...}" && pwd)
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
work=${WORK:-/tmp/gpu-session}
mkdir -p "$work"
work=$(cd "$work" && pwd)
bin=$work/bin films=$pack/films
film=$films/$(cat "$pack/bench-film")
[ -d "$bin" ] || python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$pack/pack.tar.xz" "$work"
export BARCODE_CACHE=-
PATH=$PATH:/usr/local/cuda/bin

# shellcheck source=tests/support/gpu-folders.sh
. "$here/tests/support/gpu-folders.sh"

frames() { # SIZE EVERY: a file of the film's frames
    local file=$work/frames-$1-$2.rgb
    [ -f "$file" ] || "$bin/barcode" "$film" --engine cpu -n "$2" --size "$1" -m average -q -o "$work/x.png" --dump "$file" >&2
    echo "$file"
}

part_checks() {
    "$bin/check_shrink" | tail -n 3
    "$bin/check_kmeans" --large "$(frames 160x90 24)" 160 90 8 20 "$(frames 320x180 24)" 320 180 8 20 | tail -n 3
    "$bin/check_dominant" | tail -n 3
    "$bin/check_sound" | tail -n 5
    "$bin/check_engine" 200 | tail -n 3
    "$bin/check_prompt" 16 150 | tail -n 3
}

# Runs one tool over one program; the kinds of finding, each with how often.
sanitizer() { # TOOL [--refusals no] PROGRAM ARG...
    local tool=$1 refusals=explicit log
    shift
    if [ "$1" = --refusals ]; then
        refusals=$2
        shift 2
    fi
    log=$work/$tool-$(basename "$1").log
    echo "== $tool: $(basename "$1") ${*:2} (refused calls: $refusals)"
    compute-sanitizer --tool "$tool" --report-api-errors "$refusals" --print-limit 200 "$@" > "$log" 2>&1
    grep -E '^=========     at |Uninitialized|Invalid|Race|Barrier|Program hit|Saved host' "$log" |
        sed -E 's/0x[0-9a-f]+/X/g; s/ by thread.*//' | sort | uniq -c | sort -rn | head -n 12
    grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log"
}

part_sanitize() {
    sanitizer initcheck "$bin/check_kmeans" --tiny
    sanitizer initcheck "$bin/check_shrink"
    sanitizer initcheck "$bin/check_dominant" --quick
    sanitizer memcheck "$bin/check_kmeans" --quick
    sanitizer memcheck "$bin/check_shrink"
    sanitizer memcheck "$bin/check_dominant" --quick
    # Whole, it takes all memory on purpose: the calls that are refused then are no findings.
    sanitizer memcheck "$bin/check_engine" 0 fed
    sanitizer memcheck --refusals no "$bin/check_engine" 0
    sanitizer synccheck "$bin/check_kmeans" --quick
    sanitizer synccheck "$bin/check_engine" 0
    sanitizer racecheck "$bin/check_kmeans" --tiny
    sanitizer racecheck "$bin/check_shrink"
    sanitizer racecheck "$bin/check_dominant" --quick
    sanitizer memcheck "$bin/check_sound" --quick
    sanitizer initcheck "$bin/check_sound" --quick
    sanitizer racecheck "$bin/check_sound" --quick
}

part_films() {
    # The check programs are another part's.
    mkdir -p "$work/only"
    cp "$bin/barcode" "$work/only/"
    CLIPS=$work/clips BARCODE_FILMS=$films SAMPLE=$pack/sample.mkv "$here/tests/support/test-gpu.sh" "$work/only" |
        awk '!/^ok/ || /\(damaged\)/'
}

render() { # FILM NAME OPTION...
    local file=$1 name=$2
    shift 2
    rm -rf "${work:?}/$name"
    mkdir -p "$work/$name"
    "$bin/barcode" "$file" -q --engine cuda "$@" -m kmeans,dominant,palette,average,squeeze -o "$work/$name/p.png" --json "$work/$name/j" &&
        sed -i -E '/^"(stages|cache)":/d' "$work/$name/j"
}

part_cache() {
    local same=0 other=0 file k way
    for file in "$pack/sample.mkv" "$films"/*; do
        [ -f "$file" ] || continue       # there may have been no room for the sample film
        rm -rf "$work/cache"
        for k in 3 8 17; do
            render "$file" none -n 6 -k $k --no-cache || other=$((other + 1))
            for way in cold warm; do
                [ $way = warm ] || rm -rf "$work/cache"
                render "$file" $way -n 6 -k $k --cache "$work/cache"
                if diff -rq "$work/none" "$work/$way"; then same=$((same + 1)); else other=$((other + 1)); fi
            done
        done
    done
    echo "cold, warm and no cache: $same the same, $other different"
}

part_odd() {
    local way engine decode
    for way in cpu-cpu cuda-nvdec cpu-nvdec cuda-auto; do
        engine=${way%-*} decode=${way#*-}
        mkdir -p "$work/odd-$way"
        "$bin/barcode" "$work"/odd/*.mkv -v -n 1 --size full --engine "$engine" --decode "$decode" -m average,squeeze \
            -o "$work/odd-$way/" 2> "$work/odd-$way.said" || tail -n 3 "$work/odd-$way.said"
        echo "$way: $(find "$work/odd-$way" -name '*.png' | wc -l) pictures, $(diff -rq "$work/odd-cpu-cpu" "$work/odd-$way" | wc -l) differ;" \
            "$(grep -c 'cannot decode' "$work/odd-$way.said") films refused"
        diff -rq "$work/odd-cpu-cpu" "$work/odd-$way" | head -n 12
    done
    grep -h 'cannot decode' "$work/odd-cuda-nvdec.said" | head -n 3
}

part_trim() {
    local same=0 other=0 file options way
    for file in "$pack"/barred/*; do
        for options in "-n 3" "-n 3 --steady" "--steady=50 -k 16 --columns 300" "-n 3 --width 37 --order share" "-n 3 --no-race --init k-means++" "-n 3 --keyframes" "-n 3 --light linear --width 50" "-n 3 --tone-map hable --hdr-peak 700"; do
            for way in "cpu --decode cpu" "cuda --decode cpu" "cuda --decode nvdec" "cuda"; do
                rm -rf "$work/barred-${way// /}"
                mkdir "$work/barred-${way// /}"
                # shellcheck disable=SC2086
                "$bin/barcode" "$file" -q $options --engine $way -m kmeans,dominant,palette,average,squeeze \
                    -o "$work/barred-${way// /}/p.png" --json "$work/barred-${way// /}/j" --dump "$work/barred-${way// /}/rgb"
                sed -i -E '/^"(engine|decode|isa|threads|stages|cache)":/d' "$work/barred-${way// /}/j"
                if diff -rq "$work/barred-cpu--decodecpu" "$work/barred-${way// /}"; then same=$((same + 1)); else other=$((other + 1)); fi
            done
        done
        grep -o '"crop":.*' "$work/barred-cuda/j" | head -n 1 | cut -c 1-160
    done
    echo "bars, HDR and pictures, CPU against the others (a fourth are itself): $same the same, $other different"
}

# What --engine gets: the first two GPUs, or the only one twice.
pair() {
    if "$bin/barcode" "$film" -q -n 100000 -m average --engine cuda:1 -o "$work/x.png" 2> /dev/null; then echo cuda:0,1; else echo cuda:0,0; fi
}

# Files without what differs by right: who made them, and when.
plain() { # FOLDER
    find "$1" -name '*.json' -exec sed -i -E '/^"(engine|decode|isa|threads|stages|cache)":/d' {} +
}

part_gpus() {
    local pair second way file name options same=0 other=0
    pair=$(pair) second=cuda:${pair#*,}
    echo "$("$bin/barcode" "$film" -v -n 100000 -m average --engine "$second" -o "$work/x.png" 2>&1 | grep -o 'threads, .*') is $second"
    for file in "$pack"/barred/* "$films"/*; do
        for options in "-n 3" "--columns 300 --steady -k 16 --light linear --width 50" "-n 3 --keyframes --size 1/4"; do
            for way in "cpu --decode cpu" "$second --decode cpu" "$second --decode nvdec" "$second" "$pair"; do
                name=gpus-${way// /}
                rm -rf "${work:?}/$name"
                mkdir "$work/$name"
                # shellcheck disable=SC2086
                "$bin/barcode" "$file" -q $options --engine $way -m kmeans,dominant,palette,average,squeeze \
                    -o "$work/$name/p.png" --json "$work/$name/j.json" --csv "$work/$name/c.csv" --dump "$work/$name/rgb"
                plain "$work/$name"
                if diff -rq "$work/gpus-cpu--decodecpu" "$work/$name"; then same=$((same + 1)); else other=$((other + 1)) && echo "$file $options $way"; fi
            done
        done
    done
    echo "$second and $pair, each film alone (a fifth are the CPU against itself): $same the same, $other different"
    "$bin/barcode" "$film" --engine cuda:0,77 -o "$work/x.png"
    echo "a GPU that is not there: exit status $?, wanted 4"
}

part_gpus-films() {
    local pair
    pair=$(pair)
    mkdir -p "$work/only"
    cp "$bin/barcode" "$work/only/"
    ENGINE=cuda:${pair#*,} CLIPS=$work/clips BARCODE_FILMS=$films SAMPLE=$pack/sample.mkv "$here/tests/support/test-gpu.sh" "$work/only" | awk '!/^ok/ || /\(damaged\)/'
}

# Six runs at a time, two cores each, keeping beside not keeping: what disturbs one disturbs the other.
part_keeping() {
    local round pair at
    python3 "$here/tests/bench/repeat_mp4.py" "$film" 40 "$work/twenty.mp4"
    for round in 0 1; do
        for pair in 0 4 8; do
            rm -rf "$work/kept-$pair"
            at=$((pair + 2 * round))
            timed taskset -c $at,$((at + 1)) "$bin/barcode" "$work/twenty.mp4" -q -n 24 --engine cpu --cache "$work/kept-$pair" -o "$work/k$pair.png" &
            at=$((pair + 2 - 2 * round))
            timed taskset -c $at,$((at + 1)) "$bin/barcode" "$work/twenty.mp4" -q -n 24 --engine cpu --no-cache -o "$work/n$pair.png" &
        done
        wait
    done
}

part_rates() {
    local small big large
    small=$(frames 160x90 24) big=$(frames 320x180 24) large=$(frames full 48)
    "$bin/bench_kmeans_gpu" -r 5 "$small" 160 90 "$big" 320 180 "$large" 1920 1080
    ncu --clock-control none --csv --kernel-name-base function --metrics gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_elapsed \
        "$bin/bench_kmeans_gpu" -b 1024 -r 1 "$small" 160 90 > "$work/ncu.csv" 2> "$work/ncu.err"
    python3 - "$work/ncu.csv" <<'PY'
import csv, sys
rows = csv.DictReader(line for line in open(sys.argv[1]) if line.startswith('"'))
time, share = {}, {}
for r in rows:
    value = float(r["Metric Value"].replace(",", ""))
    (time if "time" in r["Metric Name"] else share).setdefault((r["ID"], r["Kernel Name"]), value)
total = sum(time.values()) or 1
for key in sorted(time, key=time.get, reverse=True)[:6]:
    print(f"  {time[key] / total:6.1%} of the time, {share.get(key, 0):5.1f} % of the issue slots: {key[1]}")
print(f"  all: {sum(time[k] * share.get(k, 0) for k in time) / total:.1f} % of the issue slots")
PY
}

part_default() {
    [ -f "$work/long.mp4" ] || python3 "$here/tests/bench/repeat_mp4.py" "$film" 240 "$work/long.mp4"
    cat "$work/long.mp4" > /dev/null
    local round options
    for round in 1 2 3; do
        for options in "-n 24" "" "--trickplay jellyfin"; do
            # shellcheck disable=SC2086
            timed "$bin/barcode" "$work/long.mp4" -q --overwrite $options -o "$work/x.png"
        done
    done
}

# The lists of a low threshold have many cuts, so that they tell whether the scan frames are the same.
part_shots() {
    local way engine decode round options
    for way in cpu-cpu cuda-nvdec cuda-cpu cuda-auto; do
        engine=${way%-*} decode=${way#*-}
        mkdir -p "$work/shots-$way"
        "$bin/barcode" "$pack/sample.mkv" "$films"/*.m[kp]* "$work"/odd/*.mkv -q --engine "$engine" --decode "$decode" -n 24 \
            --shot-threshold 1 --shot-list "$work/shots-$way/" -o "$work/shots-$way/" 2> "$work/shots-$way.said" ||
            tail -n 3 "$work/shots-$way.said"
        echo "$way: $(find "$work/shots-$way" -name '*.csv' | wc -l) lists of $(cat "$work/shots-$way"/*.csv | wc -l) lines," \
            "$(diff -rq "$work/shots-cpu-cpu" "$work/shots-$way" | wc -l) files differ"
    done
    [ -f "$work/long.mp4" ] || python3 "$here/tests/bench/repeat_mp4.py" "$film" 240 "$work/long.mp4"
    cat "$work/long.mp4" > /dev/null
    for round in 1 2 3; do
        for options in "" "--shots"; do
            # shellcheck disable=SC2086
            timed "$bin/barcode" "$work/long.mp4" -q --overwrite -n 24 $options -o "$work/x.png"
        done
    done
}

part_speed() {
    WORK=$work "$here/tests/bench/run_gpu.sh" "$bin" "$film" "$films/hevc10.mp4"
}

timed() { # a command's wall seconds
    local from
    from=$(date +%s%N)
    "$@" > /dev/null 2> "$work/timed.err" || cat "$work/timed.err" >&2
    echo "$((($(date +%s%N) - from) / 1000000)) ms: ${*:2}"
}

part_auto() {
    local n engine
    for n in 1 2 4 8; do
        python3 "$here/tests/bench/repeat_mp4.py" "$film" $n "$work/short.mp4"
        for engine in cpu cuda auto cpu cuda auto; do
            timed "$bin/barcode" "$work/short.mp4" -n 24 -q --engine $engine -o "$work/x.png"
        done
    done
    [ -f "$work/long.mp4" ] || python3 "$here/tests/bench/repeat_mp4.py" "$film" 240 "$work/long.mp4"
    rm -rf "$work/cache"
    for n in cold warm warm warm; do
        timed "$bin/barcode" "$work/long.mp4" -n 24 -q --cache "$work/cache" -o "$work/x.png"
    done
}

part_encodes() {
    local file way ms pictures
    for file in "${ENCODES:-$pack/encodes}"/*.mp4; do
        python3 "$here/tests/bench/repeat_mp4.py" "$file" "${REPEAT:-180}" "$work/encode.mp4"
        cat "$work/encode.mp4" > /dev/null
        for way in "cuda --decode cpu" cuda "cuda --decode nvdec" cuda "cuda --decode nvdec"; do
            # shellcheck disable=SC2086
            ms=$(timed "$bin/barcode" "$work/encode.mp4" -q -n 24 -m average --tone-map off --engine $way --json "$work/encode.json" -o "$work/x.png" | cut -d' ' -f1)
            pictures=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["film"]["frames"])' "$work/encode.json")
            [ "$way" != "cuda --decode cpu" ] || cp "$work/x.png" "$work/encode.png"
            cmp "$work/x.png" "$work/encode.png"
            echo "$(basename "$file"), $way: $ms ms, $((pictures * 1000 / ms)) pictures/s"
        done
    done
}

part_sound() {
    local file way program round same=0 other=0 parts=()
    for file in "$pack/sound.mkv" "$pack/sample.mkv" "$work"/clips/*; do
        [ -f "$file" ] || continue
        for way in cpu cuda; do
            rm -rf "${work:?}/sound-$way"
            mkdir "$work/sound-$way"
            "$bin/barcode" "$file" -q -n 6 --engine $way --landmarks "$work/sound-$way/alone.csv"
            "$bin/barcode" "$file" -q -n 6 --engine $way -m average,sound,spectrum -o "$work/sound-$way/p.png" \
                --landmarks "$work/sound-$way/beside.csv"
        done 2> /dev/null
        if diff -rq "$work/sound-cpu" "$work/sound-cuda"; then same=$((same + 1)); else other=$((other + 1)) && echo "$file"; fi
    done
    echo "sound by CPU and GPU: $same films the same, $other different"
    [ -f "$work/sound.wav" ] || python3 - "$work/sound.wav" <<'PY'
import random, sys, wave
with wave.open(sys.argv[1], "wb") as w:
    w.setparams((1, 2, 48000, 0, "NONE", ""))
    for second in range(7200):
        w.writeframes(bytes(b >> second % 3 if i % 2 else b for i, b in enumerate(random.Random(second % 60).randbytes(96000))))
PY
    for round in 1 2 3 4 5; do
        for program in "$bin/barcode" ${OLD:+"$OLD"}; do
            for way in cpu cuda; do
                echo -n "$program: "
                timed "$program" "$work/sound.wav" -q --engine $way --overwrite --landmarks "$work/x.csv"
            done
        done
    done
    for round in $(seq 360); do parts+=("$pack/sound.mkv"); done
    for round in 1 2 3 4 5; do
        for program in "$bin/barcode" ${OLD:+"$OLD"}; do
            for way in average average,sound; do
                echo -n "$program: "
                timed "$program" --join "${parts[@]}" -q -n 24 --engine cuda -m $way --overwrite -o "$work/x.png" | sed -E 's/ [^ ]*sound\.mkv//g'
            done
        done
    done
}
# The worker of the program $1, once it has confined itself: what the kernel says of it.
worker_state() { # PID
    local child _
    for _ in $(seq 100); do
        child=$(cat "/proc/$1/task/$1/children" 2> /dev/null)
        if [ -n "$child" ] && grep -q '^Seccomp:.2' "/proc/${child%% *}/status" 2> /dev/null; then break; fi
        sleep 0.05
    done
    grep -E '^(Seccomp|NoNewPrivs|CapEff):' "/proc/${child%% *}/status" | tr '\n' ' '
}

part_sandbox() {
    local file way choice same=0 other=0 round pid
    [ -f "$work/long.mp4" ] || python3 "$here/tests/bench/repeat_mp4.py" "$film" 240 "$work/long.mp4"
    "$bin/barcode" "$film" -v -n 24 -m average --sandbox=require --engine cuda --decode nvdec -o "$work/x.png"
    echo "status of a confined GPU run: $?"
    # What the driver is refused. Where strace is, it also says what the driver opens.
    LD_PRELOAD=$bin/refused-calls.so "$bin/barcode" "$film" -q -n 24 --sandbox=require --engine cuda -o "$work/x.png" 2>&1 |
        sort | uniq -c
    if command -v strace > /dev/null; then
        strace -f -o "$work/sandbox.trace" -e trace=%file,%network,mknod,/landlock \
            "$bin/barcode" "$film" -q -n 24 --sandbox=auto --engine cuda -o "$work/x.png"
        sed -n '/landlock_restrict_self/,$p' "$work/sandbox.trace" | grep -E '(open|openat|socket|bind|connect|mknod)\(' |
            grep -vE 'ENOENT|unfinished' | sed -E 's/^[0-9]+ +//; s/0x[0-9a-f]+/X/g; s/[0-9]+$/N/' | sort | uniq -c | sort -rn
    fi
    "$bin/barcode" "$work/long.mp4" -q -n 24 --engine cuda --sandbox=require -o "$work/x.png" &
    pid=$!
    echo "worker: $(worker_state $pid)"
    wait $pid
    for file in "$pack/sample.mkv" "$films"/* "$pack"/barred/* "$work"/clips/*; do
        [ -f "$file" ] || continue
        for way in "cpu --decode cpu" "cuda --decode cpu" "cuda --decode nvdec" cuda auto; do
            for choice in off require; do
                rm -rf "${work:?}/sandbox-$choice"
                mkdir "$work/sandbox-$choice"
                # shellcheck disable=SC2086
                "$bin/barcode" "$file" -q -n 6 --engine $way --sandbox=$choice -m kmeans,dominant,palette,average,squeeze \
                    -o "$work/sandbox-$choice/p.png" --json "$work/sandbox-$choice/j.json" 2> "$work/sandbox.err" ||
                    echo "$(basename "$file"), $way, $choice: $(tail -n 1 "$work/sandbox.err")"
                sed -i '/^"stages":/d' "$work/sandbox-$choice"/*.json 2> /dev/null
            done
            # The engine and the decoder of the JSON are compared, too: none was lost.
            if diff -rq "$work/sandbox-off" "$work/sandbox-require"; then same=$((same + 1)); else other=$((other + 1)) && echo "$file $way"; fi
        done
    done
    echo "sandbox against none: $same the same, $other different"
    for round in 1 2 3 4 5; do
        for choice in off require; do
            timed "$bin/barcode" "$work/long.mp4" -q -n 24 --engine cuda --sandbox=$choice -o "$work/x.png"
        done
    done | tee "$work/sandbox.times"
    # Not beside the long film: what follows it waits for the GPU.
    for round in 1 2 3 4 5; do
        for choice in off require require off; do
            timed "$bin/barcode" "$film" -q -n 24 --engine cuda --sandbox=$choice -o "$work/x.png"
        done
    done | tee -a "$work/sandbox.times"
    awk '{ms = $1; key = (/long.mp4/ ? "2 hours" : "the film") (/--sandbox=off/ ? " off" : " on"); sum[key] += ms}
        END {for (k in sum) if (k ~ / on$/) {o = k; sub(/ on$/, " off", o); printf "%s: on / off %.4f\n", substr(k, 1, length(k) - 3), sum[k] / sum[o]}}' \
        "$work/sandbox.times"
}

echo "the film: ${film##*/}"
for part; do
    echo "==== $part, $(date -u +%H:%M:%S)"
    "part_$part"
done
echo "==== done, $(date -u +%H:%M:%S)"
