#!/usr/bin/env python3
"""live.py [NAME...] - live barcodes with real parts, on this machine alone (make test-live).

    BARCODE=out/bin/barcode MADE_FEED=out/bin/made_feed tests/live.py

A line a test, then figures; the last line counts. Exit status 1 when one failed. Streams have times, which a busy
machine can miss: a test that failed is run twice more, alone, and has failed when it never passes.
"""
import concurrent.futures
import os
import sys
import time

import live_serve  # noqa: F401
import live_page  # noqa: F401
import live_service  # noqa: F401
import live_sources  # noqa: F401
from cases import run, total
from live_cases import WORK, alone, figures, started, stop, tests

os.environ["BARCODE_CACHE"] = "-"


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
                if not results[i]:
                    for process in started:
                        stop(process, kill=True)
                    print(f"again {f.__name__}", flush=True)
                    results[i] = run(f)
    finally:
        for process in started:
            stop(process, kill=True)
    print("\n".join(figures))
    print(f"{time.monotonic() - began:.0f} s")
    return total(results)


if __name__ == "__main__":
    sys.exit(main())
