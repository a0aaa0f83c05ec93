# How programs are built: hardening, what they are made of, when a static FFmpeg is rebuilt.

test_hardened() { # quick
    "$HERE/../support/hardened.sh" "$BARCODE" || fail "the program is not hardened"
}

test_sbom() {
    command -v dpkg-query > /dev/null || skip "no dpkg-query: not Debian"
    local libraries=(-ljansson -lavcodec -l:libz.a -lm)
    SOURCE_DATE_EPOCH=1 "$HERE/../support/sbom.py" "$BARCODE" no-ffmpeg "${libraries[@]}" > list.json || fail "there is no list"
    "$HERE/../support/sbom_check.py" list.json "${libraries[@]}" || fail "the list is wrong"
    ! "$HERE/../support/sbom_check.py" list.json -lcmocka 2> /dev/null || fail "a library that is not in the list is not missed"
    grep -q '"STATIC_LINK"' list.json || fail "libz.a is not a static library"
}

# With an apt-get of its own, which offers version $OFFERED and unpacks nothing, but keeps the stamp.
test_static_ffmpeg_is_renewed() {
    mkdir bin prefix
    cat > bin/apt-get << 'END'
#!/bin/sh
case "$*" in
*update) [ "$OFFERED" != none ] ;;
*--print-uris*) echo "'http://debian/ffmpeg_$OFFERED.dsc' ffmpeg_$OFFERED.dsc 5 SHA256:0" ;;
*) cp made-by "$KEPT/unpacked" && false ;;
esac
END
    chmod +x bin/apt-get
    build() { # VERSION FLAGS
        rm -f unpacked
        PATH=$PWD/bin:$PATH KEPT=$PWD OFFERED=$1 HARDENED=$2 "$HERE/../support/build-static-ffmpeg.sh" prefix 2> said
    }
    ! build 1 -O2 || fail "built from nothing"
    mv unpacked prefix/made-by
    build 1 -O2 || fail "does not keep what is there"
    [ ! -e unpacked ] || fail "rebuilds without a reason"
    ! build 2 -O2 || fail "keeps what is there though Debian has another version"
    [ -e unpacked ] || fail "does not ask for the other version"
    ! build 1 -O3 || fail "keeps what is there though the flags are others"
    build none -O2 || fail "does not keep what is there without a network"
    grep -q 'warning: keeping' said || fail "does not say that it cannot look"
}
