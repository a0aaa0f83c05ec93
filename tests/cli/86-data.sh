# --csv and --json for those who compute: columns, one table of several films, schemas.

# films: a folder in which the order of names is not that of sizes, with hostile names.
make_films() {
    copy_clips 'films/1 large, "first".mkv' h264-closed.mkv films/=2+3.mkv one-frame.mkv \
        films/below/e01.mkv hevc-open.mkv $'films/below/two\nlines.mkv' one-frame.mkv
}

# table CSV: for each row the file and the column, by python's csv.
table() {
    "$PYTHON" - "$1" << 'END'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True):
    print(repr(row["file"]), row["column"])
END
}

test_one_table_of_a_folder() { # quick
    make_films
    ok -r films --csv all.csv -n 48 --jobs 4
    says "^barcode: wrote 'all.csv': a table of 4 films$"
    table all.csv | cut -d' ' -f1-4 | uniq > order
    table all.csv > rows
    [ "$(sed "s/ [0-9]*$//" rows | uniq)" = "'films/1 large, \"first\".mkv'
'films/=2+3.mkv'
'films/below/e01.mkv'
'films/below/two?lines.mkv'" ] || fail "the films' order: $(uniq order)"
    # Header and rows are those that each film has alone.
    ok -r films --csv each/ -n 48
    head -n 1 all.csv > joined
    for f in 'each/1 large, "first".csv' each/=2+3.csv each/below/e01.csv $'each/below/two\nlines.csv'; do
        tail -n +2 "$f" >> joined
    done
    sed -z 's/two\nlines/two?lines/g' joined | cmp - all.csv
    # A name is no formula, and nothing else was made.
    grep -q "^0,.*,'=2+3,films/=2+3.mkv" all.csv || fail "a name that a spreadsheet computes"
    [ -z "$(find . -name '.barcode*')" ] && [ ! -e all.png ] || fail "left: $(ls -A)"
    # In a folder that is given by an absolute path, names are relative to it.
    ok -r "$PWD/films/" --csv - -n 48 -j 1 -q
    [ "$(table "$LOGS/stdout" | sed 's/ [0-9]*$//' | uniq)" = "'1 large, \"first\".mkv'
\"'=2+3.mkv\"
'below/e01.mkv'
'below/two?lines.mkv'" ] || fail "names in an absolute folder: $(table "$LOGS/stdout" | uniq)"
    refuses 2 -r films -o all.csv
    says "^barcode: -o all.csv: one name for 4 films; one table is made by --csv FILE$"
    # The same on stdout, with other jobs.
    ok -r films --csv - -n 48 -j 1 -q
    cmp "$LOGS/stdout" all.csv
}

test_table_without_failed_films() {
    make_films
    echo 'no film' > films/0.mkv
    exits 3 -r films --csv all.csv -n 48
    says "a table of 4 films"
    table all.csv | grep -q "0.mkv" && fail "a row of a film that failed"
    [ "$(table all.csv | sed 's/ [0-9]*$//' | uniq | wc -l)" -eq 4 ] || fail "$(table all.csv)"
    # Nothing but failures leaves the old table. Another output that fails leaves the film out.
    cp all.csv old.csv
    run films/0.mkv missing.mkv --csv all.csv
    [ "$STATUS" -eq 3 ] && cmp all.csv old.csv || fail "exit status $STATUS"
    STATUS=0 COMMAND="barcode ... with a disk that is full for one JSON"
    (ulimit -f 20; trap '' XFSZ; "$BARCODE" films/below/e01.mkv films/=2+3.mkv --json j/ -n 1 --csv all.csv --csv-columns file,column) 2> "$LOGS/stderr" ||
        STATUS=$?
    [ "$STATUS" -eq 1 ] && says "cannot write 'j/e01.json': File too large" || fail "exit status $STATUS"
    [ "$(table all.csv)" = "'films/=2+3.mkv' 0" ] || fail "the rows are $(table all.csv | head -n 3)"
}

# With --update films that are finished otherwise have rows, too; a shard has its own films.
test_table_update_and_shard() {
    make_films
    ok -r films --csv all.csv -o p/ -n 48 --cache cache
    cp all.csv first.csv
    ok -r films --csv all.csv -o p/ -n 48 --cache cache --update
    cmp all.csv first.csv
    for i in 1 2; do ok -r films --csv $i.csv -n 48 --shard $i/2; done
    { tail -n +2 1.csv; tail -n +2 2.csv; } | LC_ALL=C sort > shards
    tail -n +2 all.csv | LC_ALL=C sort | cmp - shards
}

# A run that is interrupted, or whose disk is full, leaves the old table.
test_table_is_whole() {
    make_films
    echo old > all.csv
    STATUS=0 COMMAND="barcode ... --csv all.csv with a full disk"
    (ulimit -f 1; trap '' XFSZ; "$BARCODE" films/1* films/below/e01.mkv --csv all.csv -n 1 2> "$LOGS/stderr") || STATUS=$?
    [ "$STATUS" -eq 1 ] && [ "$(cat all.csv)" = old ] || fail "exit status $STATUS: $(head -c 200 all.csv)"
    says "cannot write 'all.csv': "
    [ -z "$(find . -name '.barcode*' -o -name '*.tmp')" ] || fail "left: $(ls -A)"
    STATUS=0 COMMAND="barcode ... --csv all.csv, interrupted"
    timeout -s INT --preserve-status 5 env --default-signal=INT "$BARCODE" films/=* "$(sample)" -j 1 -n 1 -k 16 --n-init 300 \
        --no-race --threads 1 --csv all.csv -v 2> "$LOGS/stderr" || STATUS=$?
    says "'films/=2+3.mkv' is done"
    [ "$STATUS" -eq 130 ] && [ "$(cat all.csv)" = old ] || fail "exit status $STATUS: $(head -c 200 all.csv)"
    refuses 1 films/*.mkv --csv no/such/all.csv
    [ "$(cat all.csv)" = old ] || fail "it was replaced"
}

test_csv_columns() { # quick
    f=$(clip one-frame.mkv)
    ok "$f" -k 2 --csv x.csv --csv-columns 'time, title,colour_N,share_N,ok_hue_1'
    head -n 1 x.csv | tr -d '\r' | cmp - <(echo time,title,colour_1,share_1,colour_2,share_2,ok_hue_1)
    # What a named column needs is computed, whatever the mode is; "all" does not ask for more.
    ok "$f" -m average --csv x.csv --csv-columns contrast,dominant
    sed -n 2p x.csv | grep -q '^[0-9.]*,#' || fail "$(cat x.csv)"
    ok "$f" -m average --csv x.csv --csv-columns all
    ! grep -q 'contrast\|_1' x.csv && grep -q average_ok_hue x.csv || fail "$(head -n 1 x.csv)"
    ok "$f" -m squeeze --csv x.csv
    head -n 1 x.csv | tr -d '\r' | cmp - <(echo column,frame,time,status,average,film,r,g,b,lightness,chroma,hue,title,file)
    ok "$f" --csv x.csv
    head -n 1 x.csv | tr -d '\r' | cmp - <(echo column,frame,time,status,average,film,r,g,b,lightness,chroma,hue,contrast,title,file)
    refuses 2 "$f" --csv y.csv --csv-columns time,hues
    says "^barcode: --csv-columns: 'hues' is not a column; the names are all, column, .* NAME_1 to NAME_64$"
    refuses 2 "$f" --csv-columns time
    says "^barcode: --csv-columns applies to --csv; add --csv FILE$"
    files x.csv
}

test_option_as_a_name() { # quick
    for option in --csv --json --html -o --dump --report --thumbnails; do
        refuses 2 film.mkv $option --end 1
        says "^barcode: $option needs a name before '--end'; a file of that name is './--end'$"
    done
    refuses 2 --csv -r films
    ok "$(clip one-frame.mkv)" --csv ./--end
    [ "$(ls)" = --end ] || fail "made $(ls)"
}

test_json_format() { # quick
    ok "$(clip one-frame.mkv)" --json x.json
    grep -q '^"format": 1,$' x.json || fail "$(head -n 3 x.json)"
    "$PYTHON" -c 'import jsonschema' 2> /dev/null || skip "$PYTHON has no jsonschema"
    "$PYTHON" "$HERE/../support/schema.py" --self
    sed 's/^"k": 8,/&\n"new": 1,/' x.json > new
    sed 's/"mirror":false/"mirror":0/' x.json > wrong
    for f in new wrong; do
        ! "$PYTHON" "$HERE/../support/schema.py" $f > out || fail "the schema takes '$f'"
        grep -q "^$f: not as in the schema of barcode" out || fail "$(cat out)"
    done
}
