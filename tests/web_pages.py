"""web_pages.py - the pages that tests/web.py looks at, made by the program from out/sample.mkv and out/clips in out/test/web."""
import base64
import json
import re
import shutil
import subprocess
import time

from cases import BARCODE, TOP

SAMPLE, CLIPS, WORK = TOP / "out/sample.mkv", TOP / "out/clips", TOP / "out/test/web"
EVIL = '<script>alert(1)</script>".mkv'     # a folder of the first half of it, and a film of the second
WIDE = 10000
page = {}                                   # the pages that are made, by name


def figure(text):
    print(f"      {text}", flush=True)


def barcode(*words):
    done = subprocess.run([BARCODE, *map(str, words), "-q", "--cache", str(WORK / "cache")], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise AssertionError(f"barcode {words}: {done.stderr}")


def make_pages():
    shutil.rmtree(WORK, ignore_errors=True)
    films = WORK / "films"
    (films / EVIL).parent.mkdir(parents=True)
    for i in range(1, 7):
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-ss", str(12 * i - 6), "-i", SAMPLE, "-t", str(5 + i), "-c", "copy", films / f"Part {i}.mkv"], check=True)
    shutil.copy(CLIPS / "one-frame.mkv", films / EVIL)
    page.update(sample=WORK / "sample.html", wide=WORK / "wide.html", broken=WORK / "broken.html", gallery=WORK / "gallery/index.html",
                many=WORK / "many/index.html", steady=WORK / "steady.html", range=WORK / "range.html", sound=WORK / "sound.html", shots=WORK / "shots.html", by_shot=WORK / "by-shot.html",
                equal=WORK / "equal.html", titles=WORK / "titles/average.html")
    (WORK / "downloads").mkdir()
    for name in ("gallery", "many", "titles"):
        page[name].parent.mkdir()
    barcode(SAMPLE, "-n", 2, "-m", "all", "-o", page["sample"])
    barcode(SAMPLE, "-n", 2, "-m", "kmeans,palette,squeeze", "--height", 240, "-o", WORK / "strip.png")
    barcode(SAMPLE, "-n", 8, "-m", "kmeans", "--steady", "-o", page["steady"])
    barcode(CLIPS / "damaged/corrupt-hevc.mkv", "-n", 2, "-m", "average", "-o", page["broken"])
    barcode(SAMPLE, "-n", 8, "-m", "average", "--start", 20, "--end", 50, "-o", page["range"])
    # Silence, and a tone from the middle on.
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", SAMPLE, "-f", "lavfi", "-i", "aevalsrc='if(lt(t,45),0,0.1*sin(2*PI*1000*t))':s=16000:d=89", "-map", "0:v", "-map", "1:a",
                    "-c:v", "copy", "-c:a", "flac", WORK / "sound.mkv"], check=True)
    barcode(WORK / "sound.mkv", "-n", 8, "-m", "kmeans,sound,spectrum", "-o", page["sound"])
    # Cuts at frames 50, 80 and 155 of 200.
    lengths = {"red": 2, "blue": 1.2, "green": 3, "white": 1.8}
    inputs = [word for colour, s in lengths.items() for word in ("-f", "lavfi", "-i", f"color={colour}:s=160x90:r=25:d={s}")]
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *inputs, "-filter_complex", "concat=n=4", "-g", "250", "-bf", "0", WORK / "shots.mkv"], check=True)
    barcode(WORK / "shots.mkv", "-n", 5, "--shots", "-o", page["shots"])
    barcode(WORK / "shots.mkv", "--columns", "shots", "-o", page["by_shot"])
    barcode(WORK / "shots.mkv", "--columns", "shots", "--shot-width", "equal", "-o", page["equal"])
    for count in (2, 8, 32):
        make_palette(count)
    make_titles(WORK / "titles")
    barcode("-r", films, "-n", 4, "-o", WORK / "gallery", "--html", page["gallery"])
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-stream_loop", "9", "-i", SAMPLE, "-c", "copy", WORK / "long.mkv"], check=True)
    barcode(WORK / "long.mkv", "--columns", WIDE, "-m", "all", "--n-init", 1, "--max-iter", 3, "--size", 160, "-o", page["wide"])
    make_cards(page["many"].parent, 1000, films)


def make_palette(count):
    """The sample's page with a palette of so many colours."""
    html = page["sample"].read_text()
    facts = json.loads(re.search(r'id="film">(.*?)</script>', html).group(1))
    facts["palette"] = [["#%02x%02x%02x" % (i * 7, 255 - i * 5, i * 53 % 256), 2 ** 20 // count] for i in range(count)]
    page[f"palette-{count}"] = WORK / f"palette-{count}.html"
    page[f"palette-{count}"].write_text(re.sub(r'(id="film">).*?(</script>)', lambda m: m[1] + json.dumps(facts) + m[2], html, count=1))


def make_titles(folder):
    """Galleries of two films that have titles: MODE.html is of pages that were made with this mode."""
    films = folder / "films"
    films.mkdir()
    shutil.copy(SAMPLE, films / "whole.mkv")
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", SAMPLE, "-t", "9", "-c", "copy", "-metadata", "title=Part of a day", films / "part.mkv"], check=True)
    for mode, width, height in (("average", 480, 1), ("palette", 320, 16)):
        barcode(films, "-n", 2, "-m", mode, "--html", folder / mode / "index.html")
        shutil.copy(folder / mode / "index.html", folder / f"{mode}.html")
        barcode(films / "whole.mkv", "-n", 2, "-m", mode, "--width", width, "--height", height, "-o", WORK / f"card-{mode}.png")


def make_cards(folder, count, films):
    """Pages of which there is no more than what a gallery reads, each with colours and a length of its own."""
    head = re.search(r".*?id=\"card\">.*?</script>\n", page["sample"].read_text(), re.S).group(0)
    card = json.loads(re.search(r'id="card">(.*?)</script>', head).group(1))
    for i in range(count):
        turned = [((i * 37) % 256, (i * 91) % 256, (i * 53) % 256) for _ in range(1)][0]
        mine = dict(card, name=f"Film {i}.mkv", title="", length=60 + (i * 7919) % 9000, palette=[["#%02x%02x%02x" % turned, 600000], ["#202020", 448576]])
        data = bytearray(base64.b64decode(card["moments"]["colours"]))
        data[0:4] = bytes([*turned, 200])
        mine["moments"] = dict(card["moments"], colours=base64.b64encode(bytes(data)).decode())
        part = folder / f"shelf {i // 100}"
        part.mkdir(exist_ok=True)
        (part / f"film {i}.html").write_text(head.replace(json.dumps(card), "").replace(re.search(r'id="card">(.*?)</script>', head).group(1), json.dumps(mine)))
    # What other versions may write, and what is broken.
    for i, odd in enumerate(({}, {"name": 7, "palette": [["x", 1], 3], "moments": {"colours": "?", "times": [1]}}, {"palette": {}, "moments": [], "length": "1"})):
        (folder / f"odd {i}.html").write_text(head.replace(re.search(r'id="card">(.*?)</script>', head).group(1), json.dumps(odd)))
    began = time.monotonic()
    barcode(films / "Part 1.mkv", films / "Part 2.mkv", "-n", 8, "-o", folder, "--html", folder / "index.html")
    figure(f"a gallery of {count + 5} films: {time.monotonic() - began:.1f} s with two films, {(folder / 'index.html').stat().st_size / 1e6:.1f} MB")
