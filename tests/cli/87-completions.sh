# --generate: what a shell completes. Bash is asked itself; zsh and fish are in make test-deb.
# shellcheck disable=SC2317  # bash calls compopt

# offered WORD...: the completions after `barcode WORD...`.
offered() {
    # shellcheck disable=SC1091  # it was just made
    . ./complete
    compopt() { :; }
    # shellcheck disable=SC2034  # what bash sets for the function
    COMP_WORDS=(barcode "$@") COMP_CWORD=$#
    _barcode
    echo "${COMPREPLY[*]}"
}

# offers WORDS WORD...: after `barcode WORD...` the completions are these.
offers() {
    local want=$1 have
    shift
    have=$(offered "$@")
    [ "$have" = "$want" ] || fail "after 'barcode $*' it offers '$have', not '$want'"
}

test_completions_bash() { # quick
    ok --generate complete-bash
    [ ! -s "$LOGS/stderr" ] || fail "it says something beside it"
    cp "$LOGS/stdout" complete
    shellcheck -s bash complete 2> /dev/null || ! command -v shellcheck > /dev/null || fail "shellcheck: $(shellcheck -s bash complete)"
    offers '--thumbnails --threads' --th
    offers 'lightness share' --order ''
    offers 'lightness share' --order =
    offers share --order = s
    offers kmeans,dominant -m kmeans,d
    offers kmeans,squeeze -m kmeans,sq
    offers jellyfin,bif --trickplay jellyfin,b
    offers 'complete-bash complete-zsh complete-fish' --generate comp
    offers '' --seed ''
    offers '' film
    touch alone
    offers 'alone align' al
    offers '' film.mkv al
    # Every option of --help is offered, and no other.
    for command in '' align find; do
        # shellcheck disable=SC2086  # no word if empty
        run $command --help
        grep -oE '^ +(-., )?--[a-z-]+' "$LOGS/stdout" | grep -oE -- "--.*" | sort -u > options
        # shellcheck disable=SC2086
        offered $command -- | tr ' ' '\n' | sort | diff options - > differ || fail "options of 'barcode $command': $(cat differ)"
    done
}

test_completions_refused() {
    for kind in zsh fish; do
        ok --generate=complete-$kind ignored
        [ "$(grep -c barcode "$LOGS/stdout")" -gt 0 ] || fail "nothing for $kind"
    done
    refuses 2 --generate bash
    says "^barcode: --generate: 'bash' is not complete-bash, complete-zsh or complete-fish$"
    refuses 2 --generate
    [ ! -w /dev/full ] || { COMMAND="--generate > /dev/full"; ! "$BARCODE" --generate complete-bash > /dev/full 2> "$LOGS/stderr" || fail "a full disk is not noticed"; }
}
