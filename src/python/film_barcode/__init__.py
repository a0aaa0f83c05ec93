"""Movie barcodes: a film's colours as numbers, as a picture and as a palette.

    import film_barcode

    rows = film_barcode.columns("film.mkv", columns=500)         # a dict for each column
    frame = film_barcode.columns("film.mkv", as_frame=True)      # a pandas DataFrame
    png = film_barcode.image("film.mkv", mode="squeeze")         # bytes
    picture = film_barcode.image("film.mkv", as_picture=True)    # a Pillow image
    palette = film_barcode.palette("film.mkv", colours=5)        # hex, rgb and share of each

Every call runs the program `barcode` once. `path` is a film, or a list of films. Options are those
of the program (`barcode --help`): k=8 is -k 8, no_cache=True is --no-cache, mode="squeeze" is
--mode=squeeze, csv_columns=["time", "r"] is --csv-columns=time,r. None and False leave an option
out.

`progress` is called with the finished part, 0 to 1, and the program's line about it: after three
seconds, then every three seconds, and at the end. An exception that it raises stops the program.

A failure raises BarcodeError. A warning of the program is a Python warning, BarcodeWarning. Ctrl-C
stops the program, which leaves no file half written, and raises KeyboardInterrupt.
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

__all__ = ["BarcodeError", "BarcodeWarning", "columns", "image", "palette", "program", "run"]

Path = Union[str, "os.PathLike[str]"]
Films = Union[Path, Sequence[Path]]
Progress = Callable[[float, str], Any]

_HERE = os.path.dirname(os.path.abspath(__file__))
_BUNDLED = os.path.join(_HERE, "bin", "barcode")
_TEXT = {"title", "file", "film", "status"}


class BarcodeError(Exception):
    """The program failed. The text is its sentence, `status` its exit status (`man barcode`)."""

    def __init__(self, sentence: str, status: int):
        super().__init__(sentence)
        self.status = status


class BarcodeWarning(UserWarning):
    """The program printed a warning: for example, frames of the film are damaged."""


def columns(path: Films, *, as_frame: bool = False, progress: Optional[Progress] = None,
            **options: Any) -> Any:
    """Returns the columns of a film's barcode: what --csv writes.

    The result is a list of dicts, or a pandas DataFrame if `as_frame`. `time` is in seconds, r, g
    and b are 0 to 255, colours are "#rrggbb". A value that a column does not have is None.
    csv_columns="all" adds what else the mode has, such as colour_1 and share_1 of each cluster.
    """
    text = run([*_arguments(options), "--csv=-"], path, progress).decode("utf-8")
    rows = [{name: _value(name, cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text, newline=""))]
    if not as_frame:
        return rows
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return pandas.DataFrame(rows)


def image(path: Films, *, as_picture: bool = False, progress: Optional[Progress] = None,
          **options: Any) -> Any:
    """Returns a film's barcode as the bytes of a PNG, or as a Pillow image if `as_picture`.

    With poster="pdf" or another format of --poster, they are the bytes of that format.
    """
    data = run([*_arguments(options), "--output=-"], path, progress)
    if not as_picture:
        return data
    import PIL.Image  # type: ignore[import-not-found, unused-ignore]

    return PIL.Image.open(io.BytesIO(data))


def palette(path: Films, *, progress: Optional[Progress] = None,
            **options: Any) -> List[Dict[str, Any]]:
    """Returns a film's main colours: dicts with `hex`, `rgb` and `share` (0 to 1)."""
    with tempfile.TemporaryDirectory(prefix="barcode-") as folder:
        file = os.path.join(folder, "palette.json")
        run([*_arguments(options), f"--swatches={file}"], path, progress)
        with open(file, encoding="utf-8") as swatches:
            return list(json.load(swatches)["colours"])


def program() -> str:
    """Returns the path of the program: that of this package, or else the one in the PATH."""
    found = _BUNDLED if os.path.exists(_BUNDLED) else shutil.which("barcode")
    if not found:
        raise BarcodeError("the program barcode is neither in this package nor in the PATH", 127)
    return found


def run(arguments: Sequence[str], path: Films = (), progress: Optional[Progress] = None) -> bytes:
    """Runs the program with these arguments for these films. Returns what it writes to stdout."""
    films: Sequence[Path] = [path] if isinstance(path, (str, os.PathLike)) else path
    command = [program(), *arguments, *(["--progress=always"] if progress else []),
               "--", *[os.fspath(film) for film in films]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=_environment()) as child:
        output: List[bytes] = []
        reader = threading.Thread(target=lambda: output.append(child.stdout.read()))  # type: ignore
        reader.start()
        messages: List[str] = []
        try:
            for line in io.TextIOWrapper(child.stderr, "utf-8", "replace"):  # type: ignore
                _read_message(line.rstrip("\n"), messages, progress)
            child.wait()
        except BaseException:
            # A terminal's Ctrl-C has reached the program too, which counts both as one signal.
            child.send_signal(signal.SIGINT)
            child.stderr.close()  # type: ignore[union-attr]
            raise
        finally:
            reader.join()
            child.wait()
    if child.returncode == 130:
        raise KeyboardInterrupt
    if child.returncode:
        ended = f"barcode ended with status {child.returncode}"
        raise BarcodeError(messages[0] if messages else ended, child.returncode)
    return output[0]


def main() -> None:
    """The command `barcode`: replaces this process by the program."""
    try:
        os.execve(program(), ["barcode", *sys.argv[1:]], _environment())
    except (BarcodeError, OSError) as e:
        sys.exit(f"barcode: {e}")


def _arguments(options: Dict[str, Any]) -> List[str]:
    """Returns the command line of options: k=8 is -k8, no_cache=True is --no-cache."""
    arguments = []
    for name, value in options.items():
        option = "-" + name if len(name) == 1 else "--" + name.replace("_", "-")
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            arguments.append(f"{option}{'=' if len(name) > 1 else ''}{value}")
    return arguments


def _read_message(line: str, messages: List[str], progress: Optional[Progress]) -> None:
    """Reads a line of stderr: progress, a warning, a file that was written, or an error."""
    source, _, text = line.partition(": ")
    if source != "barcode":
        return
    share = re.search(r" (\d+) %  ", text) if progress else None
    if text.startswith("warning: "):
        warnings.warn(text[len("warning: "):], BarcodeWarning, stacklevel=4)
    elif share and progress:
        progress(int(share[1]) / 100, text)
    elif not text.startswith("wrote "):
        messages.append(text)


def _value(name: str, cell: Optional[str]) -> Any:
    """Returns a cell of CSV as text or as a number; None if it is empty."""
    if name in _TEXT:
        # An apostrophe keeps spreadsheets from computing a name.
        return cell[1:] if cell and re.match(r"'[-=+@\t\r]", cell) else cell
    if not cell:
        return None
    for number in (int, float):
        try:
            return number(cell)
        except ValueError:
            pass
    return cell


def _environment() -> Dict[str, str]:
    """Returns the environment of the program, in which fontconfig finds the fonts of this package.

    They come after the system's. fontconfig finds a folder beside its configuration by no other
    name than that of the user's data; fonts.conf names the usual one of those again.
    """
    environment = dict(os.environ)
    if os.path.exists(_BUNDLED) and not {"FONTCONFIG_FILE", "FONTCONFIG_PATH"} & set(environment):
        environment["FONTCONFIG_FILE"] = os.path.join(_HERE, "share", "fonts.conf")
        environment["XDG_DATA_HOME"] = os.path.join(_HERE, "share")
    return environment
