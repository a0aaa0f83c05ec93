# --landmarks and --spectrogram: what is in them, and which films are read for them.

# with_sound NAME [SECONDS]: a film with pictures, whose sound is a tone with an octave above it in every other second.
with_sound() {
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x48:r=25:d="${2:-8}" \
        -f lavfi -i "aevalsrc=0.3*sin(2*PI*1000*t)+0.3*sin(2*PI*2000*t)*lt(mod(t\,2)\,1):d=${2:-8}:s=48000" \
        -c:v mpeg4 -c:a pcm_s16le "$1"
}

# arrays CSV NPY: the array has a frame for each 512 samples at 16 kHz, and every row of the table is a peak of it.
arrays() {
    "$PYTHON" - "$@" <<'PY' || fail "$1 and $2 are not as they should be"
import sys
import numpy as np
v = np.load(sys.argv[2])
rows = [line.rstrip("\r\n").split(",") for line in open(sys.argv[1], newline="")]
assert rows[0] == ["frame", "time_s", "bin", "frequency_hz", "wide"], rows[0]
peaks = np.array(rows[1:], float)
assert v.dtype == np.int16 and v.shape == (8 * 16000 // 512, 512), v.shape
assert len(peaks) >= 5 and set(peaks[:, 2]) >= {64, 128}, peaks
for frame, time, bin_, hertz, wide in peaks:
    t, f = int(frame), int(bin_)
    assert v[t, f] == v[max(t - 5, 0):t + 6, max(f - 5, 0):f + 6].max() >= 7168 and wide in (0, 1)
    assert abs(time - t * 0.032) < 1e-9 and hertz == f * 15.625
octaves = peaks[peaks[:, 2] == 128][:, 1]
assert (octaves % 2 < 1.05).all() and len(octaves) >= 4, octaves
PY
}

test_landmarks_and_spectrogram() { # quick
    with_sound film.mkv
    ok film.mkv --landmarks l.csv --spectrogram s.npy --cache c
    says "wrote 'l.csv': [0-9]* peaks"
    says "wrote 's.npy': 250 frames"
    arrays l.csv s.npy
    ok film.mkv --landmarks cached.csv --cache c -v
    says 'cache hit: the film.s sound'
    cmp l.csv cached.csv || fail "the cache has other peaks"
    ok film.mkv --cache c -q -n 20 -o with.png --landmarks again.csv --spectrogram again.npy
    cmp l.csv again.csv || fail "beside pictures there are other peaks"
    cmp s.npy again.npy || fail "beside pictures there is another spectrogram"
    ok film.mkv --cache c -q -n 20 -o without.png
    cmp with.png without.png || fail "sound changes the picture"
    ok film.mkv --no-cache -q --spectrogram -
    cmp "$LOGS/stdout" s.npy || fail "--spectrogram - is not what --spectrogram FILE is"
    ok film.mkv --no-cache -q -o named.npy
    cmp named.npy s.npy || fail "-o FILE.npy is not what --spectrogram FILE is"
}

test_landmarks_read_no_pictures() {
    with_sound film.mkv
    ok film.mkv --no-cache --landmarks l.csv -v
    says 'is done: 0 columns'
    ok film.mkv --no-cache --verify --landmarks verified.csv
    cmp l.csv verified.csv || fail "--verify finds other peaks"
}

# Files of sound alone, also with a cover picture; a folder's films are none of them.
test_landmarks_of_sound_alone() { # quick
    with_sound film.mkv
    ok film.mkv --no-cache --landmarks film.csv
    mkdir folder
    for name in a.wav a.flac a.mp3 a.m4a a.opus; do
        ffmpeg -nostdin -v error -i film.mkv -vn folder/$name
        ok folder/$name --cache c --sandbox require --landmarks $name.csv --spectrogram $name.npy
    done
    cmp film.csv a.wav.csv || fail "WAV has other peaks than the film"
    cmp film.csv a.flac.csv || fail "FLAC has other peaks than the film"
    arrays a.wav.csv a.wav.npy
    arrays a.mp3.csv a.mp3.npy
    arrays a.m4a.csv a.m4a.npy
    through folder/a.wav - -q --no-cache --landmarks pipe.csv
    was 0
    cmp film.csv pipe.csv || fail "a pipe has other peaks"
    ffmpeg -nostdin -v error -i film.mkv -frames:v 1 cover.png
    for name in mp3 m4a; do
        ffmpeg -nostdin -v error -i folder/a.$name -i cover.png -map 0 -map 1 -c copy -disposition:v attached_pic cover.$name
        ok cover.$name --no-cache --landmarks cover.csv
        cmp a.$name.csv cover.csv || fail "a cover picture changes the peaks"
    done
    refuses 3 folder/a.mp3 -o x.png
    says "'folder/a.mp3' has no video stream, only sound"
    refuses 3 folder/a.mp3 -o x.png --landmarks x.csv
    refuses 3 folder/a.mp3 --stream 0 --landmarks x.csv
    refuses 2 folder/a.mp3 --sound-stream 1 --landmarks x.csv
    says "there is no --sound-stream 1"
    refuses 3 folder --landmarks out/
    ffmpeg -nostdin -v error -i folder/a.m4a -c copy -encryption_scheme cenc-aes-ctr \
        -encryption_key 76a6c65c5ea762046bd749a2e632ccbb -encryption_kid a7e61c373e219033c21091fa607bf3b8 encrypted.mp4
    refuses 3 encrypted.mp4 --no-cache --landmarks x.csv
    says "'encrypted.mp4' is encrypted"
    [ ! -e x.csv ] || fail "x.csv was written"
    ffmpeg -nostdin -v error -i film.mkv -vn -t 4 first.wav
    ffmpeg -nostdin -v error -ss 4 -i film.mkv -vn second.wav
    ok --join first.wav second.wav --no-cache --landmarks joined.csv
    cmp film.csv joined.csv || fail "two files have other peaks than one"
}

test_landmarks_of_folders() {
    mkdir films out
    with_sound films/a.mkv 3
    with_sound films/b.mkv 4
    refuses 2 films --landmarks one.csv
    refuses 2 films --spectrogram one.npy
    ok films --landmarks out/ --spectrogram out/ --sandbox require
    [ "$(cd out && echo *)" = "a.landmarks.csv a.npy b.landmarks.csv b.npy" ] || fail "out holds $(ls out)"
    refuses 1 films/a.mkv --landmarks out/
    says 'may show another film'
    ok films/a.mkv --landmarks out/ --overwrite
    echo mine > out/a.landmarks.csv
    refuses 1 films/a.mkv --landmarks out/ --overwrite
    says 'not made by barcode'
    grep -q mine out/a.landmarks.csv || fail "a stranger's file was replaced"
}

test_landmarks_without_sound() {
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v mpeg4 silent.mkv
    ok silent.mkv --no-cache --landmarks l.csv --spectrogram s.npy
    says "warning: 'silent.mkv' has no sound$"
    [ "$(wc -l < l.csv)" -eq 1 ] || fail "there are peaks without sound"
    "$PYTHON" -c 'import numpy; assert numpy.load("s.npy").shape == (0, 512)' || fail "s.npy is not empty"
}

test_spectrogram_fails_whole() {
    with_sound film.mkv
    echo old > s.npy
    TMPDIR=/nowhere refuses 1 film.mkv --no-cache --spectrogram s.npy
    says "cannot keep the spectrogram in '/nowhere'"
    [ "$(cat s.npy)" = old ] || fail "the old file is gone"
    head -c 20000 film.mkv > cut.mkv
    run cut.mkv --no-cache --spectrogram cut.npy --landmarks cut.csv
    [ "$STATUS" -ne 0 ] || "$PYTHON" -c 'import numpy; numpy.load("cut.npy")' || fail "cut.npy is no array"
    [ -z "$(find . -name '.*tmp')" ] || fail "a temporary is left"
}
