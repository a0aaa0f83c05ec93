# shellcheck shell=bash
# gpu-session.sh's parts that are about several films and short ones; sourced by it, whose $bin, $film, $films and $work they use.
# shellcheck disable=SC2154

copies() { # FOLDER N FILM...: N of each, and nothing else
    local folder=$1 count=$2 file n
    shift 2
    rm -rf "${folder:?}"
    mkdir -p "$folder"
    for file; do
        for n in $(seq "$count"); do cp "$file" "$folder/$n-$(basename "$file")"; done
    done
}

against_sums() { # COPIES FILM...: a folder of them all, and as many films, each COPIES times as long
    local count=$1 way file folder
    shift
    copies "$work/copies" "$count" "$@"
    rm -rf "$work/sums"
    mkdir "$work/sums"
    for file; do python3 "$here/tests/bench/repeat_mp4.py" "$file" "$count" "$work/sums/$(basename "$file")"; done
    for _ in $(seq "${ROUNDS:-2}"); do
        for way in ${FOLDER_WAYS:-auto cuda}; do
            rm -rf "$work/strips"
            mkdir "$work/strips"
            folder=$(timed "$bin/barcode" "$work/copies" -q -n 24 --engine "$way" -o "$work/strips/" | cut -d: -f1)
            echo "$count of $# films, $way: $folder, $(find "$work/strips" -name '*.png' | wc -l) pictures; their sums:" \
                "$(for file in "$work/sums"/*; do timed "$bin/barcode" "$file" -q -n 24 --engine "$way" -o "$work/x.png" | cut -d: -f1; done | tr '\n' ' ')"
        done
    done
}

part_folders() {
    against_sums 100 "$film"
    against_sums 24 "$films/hevc10.mp4"
    python3 "$here/tests/bench/repeat_mp4.py" "$pack/hevc-scenes.mp4" 3 "$work/hevc-scenes.mp4"
    against_sums 100 "$work/hevc-scenes.mp4"
    against_sums 8 "$films"/*.mp4 ${ENCODES:+"$ENCODES"/*.mp4}
}

part_gpus-folders() {
    local pair way name
    pair=$(pair)
    rm -rf "$work/gpus-cache"
    for way in "cpu --decode cpu" "$pair" "$pair -j 3" "$pair --cache $work/gpus-cache" "$pair --cache $work/gpus-cache -k 5" "cpu --decode cpu -k 5"; do
        name=folder-${way//[ \/]/}
        rm -rf "${work:?}/$name"
        mkdir "$work/$name"
        # shellcheck disable=SC2086
        "$bin/barcode" "$films" "$pack/barred" -q -n 6 -m all --engine $way -o "$work/$name/" --json "$work/$name/"
        plain "$work/$name"
    done
    for name in "folder-$pair" "folder-$pair-j3" "folder-$pair--cache${work//\//}gpus-cache"; do
        diff -rq "$work/folder-cpu--decodecpu" "$work/$name" && echo "$name: the same"
    done
    name="folder-$pair--cache${work//\//}gpus-cache-k5"
    diff -rq "$work/folder-cpu--decodecpu-k5" "$work/$name" && echo "$name, from the cache: the same"
    # Enough films for a worker on each GPU.
    copies "$work/many" 40 "$film"
    for way in "cpu --decode cpu" "$pair" "$pair --decode nvdec" "cuda"; do
        name=many-${way// /}
        rm -rf "${work:?}/$name"
        mkdir "$work/$name"
        # shellcheck disable=SC2086
        "$bin/barcode" "$work/many" -v -n 24 -m all --engine $way -o "$work/$name/" 2>&1 | grep 'one GPU and'
        plain "$work/$name"
        diff -rq "$work/many-cpu--decodecpu" "$work/$name" && echo "$name, 40 films: the same"
    done
    killed_worker "$pair"
    rm -rf "$work/gpus-cache" "$work/many-visible"
    # The system has more GPUs than the driver shows: their workers leave.
    CUDA_VISIBLE_DEVICES=0 "$bin/barcode" "$work/many" -q -n 24 -m all --engine cuda -o "$work/many-visible/"
    diff -rq "$work/many-cpu--decodecpu" "$work/many-visible" && echo "one visible GPU, 40 films: the same"
}

children() { # PID
    grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | cut -d/ -f3
}

# One of two workers is killed: its films are done again, alone, and the other worker goes on.
killed_worker() { # PAIR
    local pid workers status=0
    rm -rf "$work/many-killed"
    "$bin/barcode" "$work/many" -n 24 -m all --engine "$1" -o "$work/many-killed/" 2> "$work/killed.err" &
    pid=$!
    until [ "$(find "$work/many-killed" -name '*.png' 2> /dev/null | wc -l)" -ge 4 ] || ! kill -0 $pid 2> /dev/null; do sleep 0.05; done
    mapfile -t workers < <(children $pid)
    echo "${#workers[@]} workers at work; one is killed"
    kill -s KILL "${workers[0]}"
    wait $pid || status=$?
    grep -E 'alone|films:|killed' "$work/killed.err" | sort | uniq -c | sort -rn | head -n 12
    echo "exit status $status, wanted 0, or 1 and one film missing"
    diff -rq "$work/many-cpu--decodecpu" "$work/many-killed" && echo "a killed worker, 40 films: the same"
}

# One GPU with its part of the cores, as on a host with as many GPUs again, against $pair.
one_and_two() { # NAME FOLDER OPTION...
    local name=$1 folder=$2 cores one two
    shift 2
    cores=$(($(nproc) / 2))
    rm -rf "$work/strips"
    mkdir -p "$work/strips/one" "$work/strips/two"
    one=$(timed taskset -c 0-$((cores - 1)) "$bin/barcode" "$folder" -q -n 24 --engine cuda:0 "$@" -o "$work/strips/one/" | cut -d' ' -f1)
    two=$(timed "$bin/barcode" "$folder" -q -n 24 --engine "$pair" "$@" -o "$work/strips/two/" | cut -d' ' -f1)
    echo "$name: cuda:0 on $cores cores $one ms, $pair $two ms: $(awk "BEGIN {printf \"%.2f times as fast\", $one / $two}"); $(find "$work/strips/two" -name '*.png' | wc -l) pictures"
    diff -rq "$work/strips/one" "$work/strips/two"
}

links() { # FOLDER N FILM
    local n
    rm -rf "${1:?}"
    mkdir -p "$1"
    for n in $(seq "$2"); do ln -s "$3" "$1/film$n.mp4"; done
}

part_gpus-folders-speed() {
    local pair count way
    pair=$(pair)
    [ -f "$work/minutes.mp4" ] || python3 "$here/tests/bench/repeat_mp4.py" "$film" 20 "$work/minutes.mp4"
    links "$work/season" 24 "$work/minutes.mp4"
    cat "$film" "$work/minutes.mp4" > /dev/null
    for _ in $(seq "${ROUNDS:-1}"); do
        for count in ${COUNTS:-24 100 300 1000}; do
            links "$work/linked" "$count" "$film"
            one_and_two "$count clips" "$work/linked"
        done
        for way in auto nvdec; do
            one_and_two "24 films of 20 clips, --decode $way" "$work/season" --decode $way
        done
    done
}
