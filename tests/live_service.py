"""live_service.py - the systemd unit of samples/live: its syntax, its hardening, and its command."""
import re
import shlex
import shutil
import subprocess

from cases import BARCODE, TOP, check, same, wait_for
from live_cases import figure, folder, start, stop, test, ask, records
from live_made import Source

UNIT = TOP / "samples/live/barcode-live.service"


def analyze(*words):
    done = subprocess.run(["systemd-analyze", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


@test
def unit_is_right_and_hardened():
    check(shutil.which("systemd-analyze"), "systemd-analyze is not there")
    unit = folder("unit") / UNIT.name
    unit.write_text(UNIT.read_text().replace("ExecStart=barcode", f"ExecStart={BARCODE}"))
    same(analyze("verify", "--man=no", str(unit)), (0, ""), "systemd-analyze verify")
    status, table = analyze("security", "--offline=true", "--threshold=20", str(unit))
    level = re.search(r"Overall exposure level.*?: (.*)", table)
    check(status == 0 and level, f"exposure: {table[-200:]}")
    figure(f"systemd's exposure level of the unit: {level.group(1)}")


@test
def command_of_the_unit_runs():
    line = re.search(r"^ExecStart=(.*)$", UNIT.read_text(), re.M).group(1)
    source, state = Source(), folder("unit-state")
    words = [{"barcode": str(BARCODE), "${BARCODE_SOURCE}": source.url, "/var/lib/barcode-live": str(state), "--live=10": "--live=1", "127.0.0.1:8080": "127.0.0.1:0"}.get(w, w) for w in shlex.split(line)]
    live = start(*words, stderr=subprocess.PIPE, text=True)
    port = int(re.search(r"serving http://127.0.0.1:(\d+)/", live.stderr.readline()).group(1))
    wait_for(lambda: sum(not c[2] and not c[3] for c in records(ask(port, "/columns")[2])[2]) >= 2, 15, "two columns")
    same(stop(live), 0, "the exit status")
    check(list(state.glob("*.png")), f"{list(state.iterdir())}")
    source.close()
