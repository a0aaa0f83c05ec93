#!/usr/bin/env python3
"""live.py [NAME...] - live barcodes with real parts, on this machine alone (make test-live).

    BARCODE=out/bin/barcode MADE_FEED=out/bin/made_feed tests/live.py

A line a test, then figures; the last line counts. Exit status 1 when one failed. Streams have times, which a busy
machine can miss: a test that failed is run twice more, alone, and has failed when it never passes.
"""
import concurrent.futures
import os
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import live_serve  # noqa: E402,F401
import live_page  # noqa: E402,F401
import live_service  # noqa: E402,F401
import live_sources  # noqa: E402,F401
from live_cases import WORK, Skipped, alone, figures, started, stop, tests  # noqa: E402

os.environ["BARCODE_CACHE"] = "-"


def run(f):
    """Returns 0 (passed), 1 (failed) or 2 (skipped)."""
    began = time.monotonic()
    try:
        f()
        print(f"ok    {f.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        return 0
    except Skipped as e:
        print(f"SKIP  {f.__name__}: {e}", flush=True)
        return 2
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)
        line = next((s.lineno for s in reversed(where) if s.name == f.__name__), 0)
        print(f"FAIL  {f.__name__} (line {line}): {type(e).__name__}: {str(e)[:600]}", flush=True)
        return 1


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    began, results = time.monotonic(), []
    chosen = [[f for f in each if len(sys.argv) == 1 or f.__name__ in sys.argv[1:]] for each in (tests, alone)]
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results += pool.map(run, chosen[0])
        results += map(run, chosen[1])
        for i, f in enumerate(chosen[0] + chosen[1]):
            for _ in range(2):
                if results[i] == 1:
                    for process in started:
                        stop(process, kill=True)
                    print(f"again {f.__name__}", flush=True)
                    results[i] = run(f)
    finally:
        for process in started:
            stop(process, kill=True)
    print("\n".join(figures))
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{results.count(0)} passed, {results.count(1)} failed, {results.count(2)} skipped")
    return 0 if results.count(0) and not results.count(1) else 1


if __name__ == "__main__":
    sys.exit(main())
