# SPDX-License-Identifier: MIT
"""python3 -m perfdata.scripts [OPTION...] SCRIPT [ARGUMENT...]: what `perfdata script -s SCRIPT`
runs."""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from pathlib import Path

from ..errors import Error
from ..recording import Recording


def exec_path() -> Path:
    """Where perf's scripts are installed."""
    chosen = os.environ.get("PERF_EXEC_PATH")
    if chosen:
        return Path(chosen)
    for folder in ("/usr/libexec/perf-core", "/usr/lib/perf-core"):
        if Path(folder, "scripts/python").is_dir():
            return Path(folder)
    return Path("/usr/libexec/perf-core")


def _numbers(value: str) -> set[int]:
    """ "0-3,7" """
    found: set[int] = set()
    for part in value.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _span(value: str) -> tuple[int, int]:
    """ "START,STOP" in seconds -> ns."""
    if not re.fullmatch(r"(\d+(\.\d*)?)?,(\d+(\.\d*)?)?", value):
        raise argparse.ArgumentTypeError(f"scripts take START,STOP, not '{value}'")

    def point(word: str, default: int) -> int:
        if not word:
            return default
        seconds, _, rest = word.partition(".")
        return int(seconds) * 10**9 + int((rest + "000000000")[:9] or 0)

    start, _, stop = value.partition(",")
    return point(start, 0), point(stop, (1 << 64) - 1)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m perfdata.scripts", allow_abbrev=False)
    parser.add_argument("-i", "--input", default="perf.data")
    for name in ("symfs", "kallsyms", "vmlinux", "jitdump", "build-id-dir", "guest-kallsyms",
                 "guest-modules", "guest-vmlinux", "guest-mount"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--comms", type=lambda value: set(value.split(",")))
    parser.add_argument("--pids", type=_numbers)
    parser.add_argument("--tids", type=_numbers)
    parser.add_argument("--cpus", type=_numbers)
    parser.add_argument("--time", type=_span, dest="spans", action="append", default=[])
    parser.add_argument("--itrace", action="append", default=[])
    parser.add_argument("--no-itrace", action="store_true")
    parser.add_argument("--max-stack", type=int, default=127)
    parser.add_argument("--like-perf", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--no-demangle", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--generate", action="store_true")
    parser.add_argument("script", nargs="?", default="")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(words)


def find_script(name: str) -> str | None:
    """A script by its path, or among perf's."""
    if os.path.isfile(name):
        return name
    folder = exec_path() / "scripts/python"
    for candidate in (folder / name, folder / f"{name}.py"):
        if candidate.is_file():
            return str(candidate)
    return None


def list_scripts() -> int:
    """As `perf script -l`, by name; those of Perl are named as such."""
    rows = []
    for report in sorted(exec_path().glob("scripts/*/bin/*-report")):
        lines = report.read_text(errors="replace").splitlines()
        about, arguments = (next((line.partition(":")[2].strip() for line in lines
                                  if re.match(rf"#\s*{word}:", line)), "")
                            for word in ("description", "args"))
        name = report.name[: -len("-report")]
        if report.parent.parent.name != "python":
            about = f"{about} (Perl: not run)"
        rows.append("  %-36s %s" % (f"{name} {arguments}" if arguments else name, about))
    if not rows:
        print("perfdata: no scripts of perf are installed (Debian: linux-perf)", file=sys.stderr)
        return 1
    print("\n".join(["List of available trace scripts:", *rows]))
    return 0


def main(words: list[str]) -> int:
    options = parse(words)
    os.environ["PERF_EXEC_PATH"] = str(exec_path())
    if options.list:
        return list_scripts()
    path = find_script(options.script)
    if path is None and not options.generate:
        print(f'Can\'t open python script "{options.script}": No such file or directory',
              file=sys.stderr)
        return 255
    search = {name: getattr(options, name)
              for name in ("symfs", "kallsyms", "vmlinux", "jitdump", "build_id_dir",
                           "guest_kallsyms", "guest_modules", "guest_vmlinux", "guest_mount")}
    try:
        recording = Recording(options.input, like_perf=options.like_perf, strict=options.strict,
                              **search)
    except Error as error:
        print(f"perfdata: {error}", file=sys.stderr)
        return 3
    if options.generate:
        from . import skeleton
        skeleton.write(recording, "perf-script.py")
        print("generated Python script: perf-script.py")
        return 0
    from . import driver
    return driver.run(path, options.arguments, recording, options)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads may have seen enough
    sys.exit(main(sys.argv[1:]))
