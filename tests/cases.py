"""cases.py - what tests/live.py and tests/web.py share: checks, and a line for each test."""
import os
import pathlib
import time
import traceback

TOP = pathlib.Path(__file__).resolve().parent.parent
BARCODE = (TOP / os.environ.get("BARCODE", "out/bin/barcode")).resolve()


def check(fine, text):
    if not fine:
        raise AssertionError(text)


def same(got, want, text):
    check(got == want, f"{text}: {str(got)[:300]}, not {str(want)[:300]}")


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s")


def run(f):
    """Returns whether the test passed."""
    began = time.monotonic()
    try:
        f()
        print(f"ok    {f.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        return True
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)
        line = next((s.lineno for s in reversed(where) if s.filename == f.__code__.co_filename and s.name == f.__name__), 0)
        print(f"FAIL  {f.__name__} (line {line}): {type(e).__name__}: {str(e)[:600]}", flush=True)
        return False


def total(results):
    """Prints how many passed. Returns the exit status."""
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1
