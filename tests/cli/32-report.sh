# Runs of many films: the report, the last line, the progress of them all.

# report FILE: its lines as "film status exit columns outputs", one a line; fails where one is no JSON of these keys.
report() {
    "$PYTHON" - "$1" << 'PY' || fail "$1 is no report"
import json, re, sys
for text in open(sys.argv[1], "rb"):
    assert text.endswith(b"\n"), text
    line = json.loads(text)
    assert list(line) == ["film", "status", "reason", "exit", "seconds", "columns", "warnings", "outputs", "finished"], line
    assert (line["reason"] is None) == (line["status"] == "done"), line
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["finished"]), line
    assert line["status"] != "done" or line["seconds"] > 0, line
    print(line["film"], line["status"], line["exit"], line["columns"], ",".join(line["outputs"]) or "-")
PY
}

test_report() { # quick
    mkdir o empty
    copy_clips films/a.mkv h264-closed.mkv films/b.mkv hevc-open.mkv
    echo no film > films/c.mkv
    cp "$(clip damaged/corrupt.mkv)" films/d.mkv
    echo mine > o/b.png
    exits 3 empty films missing.mkv -n 20 -o o --json o --report r.jsonl -j 1
    report r.jsonl > got
    cat > want << END
empty failed 3 None -
films/b.mkv failed 1 None -
films/a.mkv done 0 10 o/a.png,o/a.json
films/c.mkv failed 3 None -
films/d.mkv done 0 10 o/d.png,o/d.json
missing.mkv failed 3 None -
END
    sed -i 's/d.mkv done 0 [0-9]*/d.mkv done 0 10/' got
    diff want got || fail "the report"
    grep -q "no films in the folder 'empty'" r.jsonl || fail "no reason"
    grep 'd\.mkv' r.jsonl | grep -q 'warnings":\["' || fail "no warnings"
    says '^barcode: 6 films: 2 done, 0 skipped, 4 failed, in [0-9.]* s$'
    # Appended to, and what is left out is told, too.
    rm o/b.png films/c.mkv
    ok films -n 20 -o o --json o --report r.jsonl --update
    says '^barcode: 3 films: 1 done, 2 skipped, 0 failed, in [0-9.]* s$'
    report r.jsonl | tail -n 3 | sed 's/0 10 /0 /' > got
    cat > want << END
films/a.mkv left_out 0 None o/a.png,o/a.json
films/d.mkv left_out 0 None o/a.png,o/a.json
films/b.mkv done 0 o/b.png,o/b.json
END
    sed -i 's#d.mkv left_out 0 None o/d.png,o/d.json#d.mkv left_out 0 None o/a.png,o/a.json#' got
    diff want got || fail "the report of the second run"
    # A film alone has its line, and none is said in the end; with -q it never is.
    ok films/a.mkv -n 20 -o x.png --report -
    cp "$LOGS/stdout" one.jsonl
    [ "$(report one.jsonl)" = "films/a.mkv done 0 10 x.png" ] || fail "a film alone"
    says_not 'films:'
    ok films -q -n 20 -o o
    [ ! -s "$LOGS/stderr" ] || fail "-q says something"
}

test_report_of_crash() { # quick
    copy_clips a.mkv h264-closed.mkv c.mkv h264-closed.mkv
    mkfifo b.mkv
    start a.mkv b.mkv c.mkv -n 20 -j 1 --report r
    find_worker b.mkv
    kill -s ABRT "$worker"
    ended_with 1
    [ "$(report r | tr '\n' ' ')" = "a.mkv done 0 10 a.png b.mkv failed 1 None - c.mkv done 0 10 c.png " ] || fail "$(cat r)"
    grep -q 'crashed: ' r || fail "no reason"
    says '^barcode: 3 films: 2 done, 0 skipped, 1 failed, in'
}

test_report_of_interruption() {
    copy_clips a.mkv h264-closed.mkv c.mkv h264-closed.mkv
    mkfifo b.mkv
    start a.mkv b.mkv c.mkv -n 20 -j 1 --report r
    find_worker b.mkv
    stopped_with INT 130
    [ "$(report r | tr '\n' ' ')" = "a.mkv done 0 10 a.png b.mkv interrupted 130 None - " ] || fail "$(cat r)"
    says '^barcode: finished 1 of 3 films; repeat the command with --update to go on$'
    rm b.mkv
    ok a.mkv c.mkv -n 20 --update --report r
    [ "$(report r | tail -n 2 | tr '\n' ' ')" = "a.mkv left_out 0 None a.png c.mkv done 0 10 c.png " ] || fail "$(cat r)"
}

test_report_spares_files() {
    f=$(clip h264-closed.mkv)
    cp "$f" film.mkv
    ln film.mkv link
    echo '{"precious": "longer than what a report begins with"}' > notes
    refuses 2 film.mkv --report film.mkv
    refuses 2 film.mkv --report link
    refuses 2 film.mkv --report film.png
    refuses 2 film.mkv --report other.avi
    refuses 2 film.mkv --report - -o -
    refuses 2 film.mkv --report ''
    refuses 1 film.mkv --report notes
    refuses 1 film.mkv --report .
    refuses 1 film.mkv --report gone/r
    cmp film.mkv "$f" && [ "$(cat notes)" = '{"precious": "longer than what a report begins with"}' ] || fail "something was spoilt"
    files film.mkv link notes
    # A disk that is full is told, and costs no picture.
    refuses 1 film.mkv -q -n 20 --report /dev/full
    says "'film.mkv': cannot write the report '/dev/full': No space left on device"
    files film.mkv film.png link notes
}

test_progress_of_many() {
    mkdir films o
    for n in 1 2 3; do cp "$(clip h264-closed.mkv)" films/$n.mkv; done
    ok films -n 20 -o o --progress=always -v
    says "^barcode: [123].mkv 100 %  3/3 films  [0-9]* frames/s"
    [ "$(grep -c "^barcode: 'films/[123].mkv' is done: 10 columns in [0-9.]* s$" "$LOGS/stderr")" -eq 3 ] || fail "-v does not say each film"
    ok films/1.mkv -n 20 -o o --progress=always
    says_not 'films  '
}

# A report in a folder that is searched with --any is no film of this run, nor of the next.
test_report_among_any_files() {
    copy_clips films/a.mkv h264-closed.mkv
    ok -r --any films -n 50 -m average -o films/out --report films/rep.json
    ok -r --any films -n 50 -m average -o films/out --report films/rep.json --update
    report films/rep.json > got
    [ "$(grep -c rep.json got)" -eq 0 ] || fail "the report is a film"
    grep -q '^films/a.mkv left_out' got || fail "the film is not left out"
    run -r --any films -n 50 -m average -o films/out -v --update
    says "skipped 'films/rep.json': made by barcode"
}
