#!/usr/bin/env bash
# slurm.sh [shell] - samples/slurm/barcode.sbatch on a Slurm cluster of this machine's own: Debian's munge, slurmctld and four
# slurmd, in a folder of their own, with a key and ports of their own. Nothing of a Slurm that is installed here is touched.
#
# An array of four goes over a folder of made films. One task is killed while it works, another is requeued as a preemption
# would, and the pictures must be, byte for byte, those of one run. Root is not needed. The last line counts; exit 1 when a
# check failed, and then what the daemons logged is shown.
#
#   shell    no test: a shell beside such films, from which sbatch, squeue and scancel reach the cluster; it ends with the shell
#
# BARCODE (out/bin/barcode) comes from the environment; PATIENCE too: how many seconds (120) anything is waited for.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
barcode=$(realpath "${BARCODE:-$top/out/bin/barcode}") || exit 1
script=$top/samples/slurm/barcode.sbatch
PATH=$PATH:/usr/sbin
PATIENCE=${PATIENCE:-120}
passed=0 failed=0
# What others set for a cluster or a run of theirs. SBATCH_..., SQUEUE_... are defaults of options.
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SQUEUE_@}" "${!SCANCEL_@}" "${!BARCODE_@}" BARCODE

# ------------------------------------------------------------------ the cluster

work=$(mktemp -d "${TMPDIR:-/tmp}/barcode-slurm.XXXXXX") || exit 1
export SLURM_CONF=$work/slurm.conf
daemons=()

# What a daemon left behind (a job and its slurmstepd outlive slurmd) has the name of our configuration in its environment.
sweep() {
    local file pid
    while read -r file; do
        pid=${file#/proc/} pid=${pid%/environ}
        [ "$pid" = $$ ] || kill -s KILL "$pid" 2> /dev/null
    done < <(unset SLURM_CONF; grep -lszFx "SLURM_CONF=$work/slurm.conf" /proc/[0-9]*/environ)
}

cleanup() {
    trap '' INT TERM HUP
    exec 2> /dev/null               # the shell tells which of its commands were killed
    if [ ${#daemons[@]} -gt 0 ]; then
        kill "${daemons[@]}" 2> /dev/null
        ( sleep 10; kill -s KILL "${daemons[@]}" ) > /dev/null 2>&1 &
        local late=$!
        wait "${daemons[@]}" 2> /dev/null
        kill $late 2> /dev/null
    fi
    sweep
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# until_true WHAT COMMAND...: waits for it, PATIENCE seconds long.
until_true() {
    local what=$1 end=$((SECONDS + PATIENCE))
    shift
    until "$@" > /dev/null 2>&1; do
        if [ $SECONDS -ge $end ]; then
            bad "waited $PATIENCE s for this: $what"
            return 1
        fi
        sleep 0.05
    done
}

# In a session of its own, so that Ctrl-C goes to this script alone, which ends the daemons in order.
daemon() {  # LOG COMMAND...
    local log=$work/log/$1
    shift
    setsid "$@" > "$log.out" 2>&1 < /dev/null &
    daemons+=($!)
}

# Ports that nobody uses, below those that the kernel gives to whoever connects.
free_ports() {
    python3 - "$1" <<'PY'
import random, socket, sys
taken = []
while len(taken) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(10000, 32000)))
        taken.append(s)
    except OSError:
        pass
print(*(s.getsockname()[1] for s in taken))
PY
}

# A processor a node, whatever the machine has, so that each task of an array gets a node of its own. A job that is requeued
# waits until its credential has expired: 120 s where nothing else is said.
configure() {
    local ports i
    read -ra ports < <(free_ports 5)
    cat <<END
ClusterName=barcode
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=${ports[4]}
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdLogFile=$work/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=10
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
END
    for i in 0 1 2 3; do
        echo "NodeName=node$((i + 1)) NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=1 RealMemory=4096"
    done
    echo "PartitionName=films Nodes=ALL Default=YES State=UP"
}

four_idle() {
    [ "$(timeout 10 sinfo -h -N -t idle -o %N | wc -l)" -eq 4 ]
}

start_cluster() {
    local i
    chmod 755 "$work"
    mkdir "$work/munge" "$work/state" "$work/log"
    (umask 077 && head -c 128 /dev/urandom > "$work/munge/key")
    configure > "$SLURM_CONF"
    # --force: the folder's rights are not as strict everywhere as munged wants them for the key of a real cluster.
    daemon munged munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
        --pid-file="$work/munge/pid" --log-file="$work/log/munged" --seed-file="$work/munge/seed"
    until_true "munged's socket" munge -S "$work/munge/socket" -n || return
    daemon slurmctld slurmctld -D -f "$SLURM_CONF"
    for i in 1 2 3 4; do
        daemon node$i slurmd -D -f "$SLURM_CONF" -N node$i
    done
    until_true "four idle nodes" four_idle
}

show_logs() {
    local log
    for log in "$work"/log/* "$work"/run/*.log "$work"/run/*.jsonl; do
        # What a daemon printed is in its log, too, once it has one.
        [ -s "$log" ] || continue
        [ "${log%.out}" = "$log" ] || [ ! -s "${log%.out}" ] || continue
        echo "-- ${log#"$work"/}"
        tail -n 60 "$log"
    done
    timeout 10 scontrol show job 2>&1 | head -n 150
}

# ------------------------------------------------------------------ the films

# Twelve in three folders, of different lengths and some of one name, each with work for a moment.
make_films() {
    local i folder
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        folder="$1/$(case $((i % 3)) in 0) echo "season 1" ;; 1) echo "season 2/extras" ;; 2) echo . ;; esac)"
        mkdir -p "$folder"
        ffmpeg -nostdin -v error -f lavfi -i "testsrc2=size=320x180:rate=24:duration=$((6 + i % 5)),hue=h=$((i * 29))" \
            -c:v libx264 -preset ultrafast -g 24 "$folder/e$(((i + 2) / 3)).mkv" || return
    done
}

# ------------------------------------------------------------------ checks

good() {
    echo "ok    $1"
    passed=$((passed + 1))
}
bad() {
    echo "FAIL  $1"
    failed=$((failed + 1))
}
is() {  # WHAT GOT WANT
    if [ "$2" = "$3" ]; then good "$1"; else bad "$1: '$2', not '$3'"; fi
}

# state JOB: the states of all its tasks, each once.
state() {
    timeout 10 squeue -h -t all -j "$1" -o %T | sort -u | tr '\n' ' '
}
over() {
    local now
    now=$(state "$1")
    [ -n "$now" ] && [[ ! $now =~ PENDING|RUNNING|COMPLETING|CONFIGURING|REQUEUE ]]
}
restarts() {
    timeout 10 scontrol show job "$1" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p'
}

# submit ARRAY [FILMS]: the job's number. A user's environment goes along, as ever.
submit() {
    (cd "$work/run" && PATH=${barcode%/*}:$PATH BARCODE_CACHE=$work/cache timeout 20 sbatch --parsable --array="$1" "$script" \
        "${2:-$work/films}" "$work/pictures" -n 1 -m kmeans,average -j 1)      # one after another: it is to be killed between two
}

# reports JOB: how many films its reports name; then of each word how many: of films whose last line has that status, of films that are
# in several tasks' reports, that were made twice, that an array took up where it had stopped.
reports() {
    python3 - "$work/run" "$1" <<'PY'
import collections, glob, json, sys
last, tasks, done = {}, collections.defaultdict(set), collections.Counter()
for name in glob.glob(f"{sys.argv[1]}/barcode-{sys.argv[2]}_*.jsonl"):
    for line in map(json.loads, open(name)):
        last[line["film"]] = line["status"]
        tasks[line["film"]].add(name)
        done[line["film"]] += line["status"] == "done"
bad = sum(s not in ("done", "left_out") for s in last.values())
print(len(last), "films,", bad, "not done,", sum(len(t) > 1 for t in tasks.values()), "in two shares,", sum(n > 1 for n in done.values()), "made twice")
PY
}

same_pictures() {
    # What a task that was killed was writing when it was killed.
    find "$work/pictures" -name '.*.tmp' -delete
    is "$1: the pictures are those of one run, byte for byte" "$(diff -r "$work/right" "$work/pictures" 2>&1 | head -n 20)" ""
}

test_array() {
    local id task
    id=$(submit 1-4) || { bad "sbatch"; return; }
    # Each has made a film and has others to make.
    for task in 2 3; do
        until_true "a film of task $task" test -s "$work/run/barcode-${id}_$task.jsonl" || return
    done
    timeout 20 scancel --signal=KILL --batch "${id}_2" || bad "scancel"
    timeout 20 scontrol requeue "${id}_3" || bad "scontrol requeue"
    until_true "the end of task 2" over "${id}_2" || return
    is "task 2 is killed while it works" "$(state "${id}_2")" "FAILED "
    until_true "the end of the others" over "$id" || return
    is "task 3 was requeued while it worked, and is done" "$(restarts "${id}_3")$(state "${id}_3")" "1COMPLETED "
    if diff -rq "$work/right" "$work/pictures" > /dev/null; then
        bad "with task 2 killed nothing is missing"
    else
        good "with task 2 killed pictures are missing"
    fi
    timeout 20 scontrol requeue "${id}_2" || bad "scontrol requeue"
    until_true "the end of task 2" over "${id}_2" || return
    is "task 2 was requeued, and all are done" "$(restarts "${id}_2")$(state "$id")" "1COMPLETED "
    same_pictures "an array of four"
    is "the reports of four shards name every film" "$(reports "$id")" "12 films, 0 not done, 0 in two shares, 0 made twice"
    is "each task had a node of its own" "$(grep -h 'attempt 1, on' "$work/run/barcode-$id"_*.log | sed 's/.* on //' | sort | tr '\n' ' ')" \
        "node1 node2 node3 node4 "
    for task in 2 3; do
        if grep -q '"left_out"' "$work/run/barcode-${id}_$task.jsonl"; then
            good "task $task left out what it had made before"
        else
            bad "task $task left out nothing"
        fi
    done
    is "each of the four has a log that counts its films" \
        "$(grep -lE '^barcode: shard [1-4]/4: [0-9]+ films: ' "$work/run/barcode-$id"_[1-4].log | wc -l)" 4
}

# Submitted again: what is there stays, what is missing is made. Tasks are counted from 0 here.
test_again() {
    local id
    rm "$work/pictures/season 1/e1-kmeans.png" "$work/pictures/e4-average.png"
    id=$(submit 0-3) || { bad "sbatch"; return; }
    until_true "the end of job $id" over "$id" || return
    is "an array from 0 is done" "$(state "$id")" "COMPLETED "
    same_pictures "an array from 0"
    is "it made what was missing" "$(cat "$work/run/barcode-$id"_*.jsonl | grep -c '"done"')" 2
    is "and its reports name every film" "$(reports "$id")" "12 films, 0 not done, 0 in two shares, 0 made twice"
    # One task alone is an array of one; one of two with a gap between them is none.
    rm "$work/pictures/e4-average.png"
    id=$(submit 3) || { bad "sbatch"; return; }
    until_true "the end of job $id" over "$id" || return
    same_pictures "one task alone"
    # A node that does not see the films must not look like one that has nothing to do.
    mkdir -p "$work/unmounted"
    id=$(submit 1-2 "$work/unmounted") || { bad "sbatch"; return; }
    until_true "the end of job $id" over "$id" || return
    is "nodes that see no films fail" "$(state "$id")$(grep -hc "no films in the folder" "$work/run/barcode-$id"_*.log | tr '\n' ' ')" "FAILED 1 1 "
    id=$(submit 1,3) || { bad "sbatch"; return; }
    until_true "the end of job $id" over "$id" || return
    is "an array with gaps is refused" "$(state "$id")$(grep -hc 'has gaps' "$work/run/barcode-$id"_*.log | tr '\n' ' ')" "FAILED 1 1 "
}

# ------------------------------------------------------------------ here it goes

[ -x "$barcode" ] || { echo "slurm.sh: no program at $barcode" >&2; exit 1; }
for program in munged slurmctld slurmd sbatch ffmpeg; do
    command -v $program > /dev/null || { echo "slurm.sh: there is no $program; make test-slurm installs it" >&2; exit 1; }
done
mkdir "$work/run"
if start_cluster && { make_films "$work/films" || { bad "ffmpeg"; false; }; }; then
    if [ "${1:-}" = shell ]; then
        echo "A cluster of four nodes of one processor, and films/. exit ends it and removes all of $work."
        cd "$work" && PATH=${barcode%/*}:$PATH bash -i
        cd / && exit
    fi
    good "munged, slurmctld and four slurmd are up"
    mkdir "$work/right"
    # In the background, for a shell hears no signal while it waits for another command.
    BARCODE_CACHE=- "$barcode" -q -r "$work/films" -o "$work/right" -n 1 -m kmeans,average &
    if wait $!; then
        test_array
        test_again
    else
        bad "one run without Slurm"
    fi
fi
[ "$failed" -eq 0 ] || show_logs
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
