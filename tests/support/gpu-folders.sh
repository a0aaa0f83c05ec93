# shellcheck shell=bash
# gpu-session.sh's parts that are about several films and short ones; sourced by it, whose $bin, $film, $films and $work they use.
# shellcheck disable=SC2154

# Of every way the pictures are compared with those of the CPU alone.
part_folder() {
    local way jobs n
    mkdir -p "$work/folder"
    for n in $(seq 24); do [ -f "$work/folder/$n.mp4" ] || cp "$film" "$work/folder/$n.mp4"; done
    python3 "$here/tests/bench/repeat_mp4.py" "$film" 24 "$work/sum.mp4"
    mkdir -p "$work/alone"
    "$bin/barcode" "$work/folder" -q -n 24 --engine cpu --decode cpu -o "$work/alone/"
    for _ in $(seq "${ROUNDS:-3}"); do
        for way in ${FOLDER_WAYS:-auto, cuda, auto,1 cpu,}; do
            rm -rf "$work/strips"
            mkdir "$work/strips"
            jobs=${way#*,} jobs=${jobs:+-j $jobs}
            # shellcheck disable=SC2086
            echo "$way: $(timed "$bin/barcode" "$work/folder" -q -n 24 --engine "${way%,*}" $jobs -o "$work/strips/" | cut -d: -f1)," \
                "one film: $(timed "$bin/barcode" "$work/sum.mp4" -q -n 24 --engine "${way%,*}" -o "$work/x.png" | cut -d: -f1)," \
                "one clip: $(timed "$bin/barcode" "$film" -q -n 24 --engine "${way%,*}" -o "$work/x.png" | cut -d: -f1)"
            diff -rq "$work/alone" "$work/strips"
        done
    done
}

against_sums() { # COPIES FILM...: a folder of them all, and as many films, each COPIES times as long
    local copies=$1 way file n folder
    shift
    rm -rf "$work/copies" "$work/sums"
    mkdir -p "$work/copies" "$work/sums"
    for file; do
        python3 "$here/tests/bench/repeat_mp4.py" "$file" "$copies" "$work/sums/$(basename "$file")"
        for n in $(seq "$copies"); do cp "$file" "$work/copies/$n-$(basename "$file")"; done
    done
    for _ in $(seq "${ROUNDS:-2}"); do
        for way in ${FOLDER_WAYS:-auto cuda}; do
            rm -rf "$work/strips"
            mkdir "$work/strips"
            folder=$(timed "$bin/barcode" "$work/copies" -q -n 24 --engine "$way" -o "$work/strips/" | cut -d: -f1)
            echo "$copies of $# films, $way: $folder, $(find "$work/strips" -name '*.png' | wc -l) pictures; their sums:" \
                "$(for file in "$work/sums"/*; do timed "$bin/barcode" "$file" -q -n 24 --engine "$way" -o "$work/x.png" | cut -d: -f1; done | tr '\n' ' ')"
        done
    done
}

part_folders() {
    against_sums 100 "$film"
    against_sums 24 "$films/hevc10.mp4"
    against_sums 8 "$films"/*.mp4 ${ENCODES:+"$ENCODES"/*.mp4}
}

# What is decoded with each of these for BARCODE_FRAME_THREADS, in turns: medians, all times, and whether the pictures are the same.
in_turns() { # NAME ROUNDS "HOOK..." OUTPUT ARG...
    local name=$1 rounds=$2 hooks=$3 output=$4 hook
    shift 4
    rm -rf "${work:?}"/turns-*
    for _ in $(seq "$rounds"); do
        for hook in $hooks; do
            mkdir -p "$work/turns-$hook"
            echo "$hook $(BARCODE_FRAME_THREADS=$hook timed "$bin/barcode" -q -n 24 -m average --engine cpu -o "$work/turns-$hook/$output" "$@" | cut -d' ' -f1)"
        done
    done | sort -k1,1 -k2,2n | awk -v name="$name" '
        {if ($1 != hook) {hooks[++kinds] = hook = $1}; time[hook, ++n[hook]] = $2; all[hook] = all[hook] " " $2}
        END {for (i = 1; i <= kinds; i++) {h = hooks[i]; printf "%s, %s: median %d ms of%s\n", name, h, time[h, int((n[h] + 1) / 2)], all[h]}}'
    for hook in $hooks; do
        diff -rq "$work/turns-off" "$work/turns-$hook"
    done
}

# "share" is no number: threads are shared as they are without the hook.
part_short() {
    local n file
    echo "$(nproc) cores"
    for n in 1 2 5; do
        python3 "$here/tests/bench/repeat_mp4.py" "$film" $n "$work/short.mp4"
        in_turns "film x $n" 7 "off share 2 3 4 6" p.png "$work/short.mp4"
    done
    BARCODE_FRAME_THREADS=off "$bin/barcode" "$film" -q -n 24 -m average --engine cpu --bench -o "$work/x.png"
    "$bin/barcode" "$film" -vv -n 24 -m average --engine cpu --bench -o "$work/x.png" 2>&1 | grep -E '^\{|a run of|session ends.*[1-9][0-9]* packets'
    python3 "$here/tests/bench/repeat_mp4.py" "$film" 40 "$work/short.mp4"
    in_turns "film x 40" 3 "off share" p.png "$work/short.mp4"
    rm -rf "$work/clips24"
    mkdir "$work/clips24"
    for n in $(seq 24); do
        file=$work/clips24/$n.${film##*.}
        ln "$film" "$file" || cp "$film" "$file"
    done
    in_turns "24 clips" 3 "off share" "" "$work/clips24"
}
