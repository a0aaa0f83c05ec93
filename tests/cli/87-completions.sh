# shellcheck shell=bash
# --generate: what a shell completes. Bash is asked itself; zsh and fish are in make test-deb.
# shellcheck disable=SC2154,SC2034,SC2015,SC2164,SC2317  # bash calls compopt; variables come from and go to lib.sh; fail does not return; cd works

# offers WORDS WORD...: after `barcode WORD...` the completions are these.
offers() {
    local want=$1 have
    shift
    have=$(
        # shellcheck disable=SC1091  # it was just made
        . ./complete
        compopt() { :; }
        # shellcheck disable=SC2034  # what bash sets for the function
        COMP_WORDS=(barcode "$@") COMP_CWORD=$#
        _barcode
        echo "${COMPREPLY[*]}"
    )
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
    # Every option of --help is offered.
    run --help
    grep -oE -- '--[a-z][a-z-]+' "$LOGS/stdout" | sort -u > options
    [ "$(wc -l < options)" -gt 30 ] || fail "--help has only $(cat options)"
    while read -r option; do
        grep -q -- "[ ']$option " complete || fail "$option is not in the completions"
    done < options
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
