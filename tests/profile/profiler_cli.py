# SPDX-License-Identifier: MIT
"""What the Firefox profiler itself, without a browser, says that functions take: profiler_cli.py
PROGRAM PROFILE prints a line "TOTAL SELF NAME" for each function of each thread. PROGRAM is
profiler-cli.js, which keeps its sessions in PROFILER_CLI_SESSION_DIR."""
import json
import subprocess
import sys
import time


def run(*words, **how):
    return subprocess.run(["node", sys.argv[1], *words], stdout=subprocess.PIPE, text=True,
                          timeout=120, **how)


def load(path):
    """The program waits no more than half a second for its server to start, which is short where
    the machine is busy: the server starts all the same."""
    done = run("load", path, "--session", "one", stderr=subprocess.PIPE)
    for _ in range(120):
        if not done.returncode:
            return
        time.sleep(1)
        done = run("status", "--session", "one", stderr=subprocess.PIPE)
    sys.exit("not loaded: " + done.stderr)


def ask(*words):
    return run(*words, "--session", "one", check=True).stdout


def main():
    load(sys.argv[2])
    try:
        threads = json.loads(ask("thread", "list", "--limit", "0", "--json"))
        assert not threads["hiddenByLimit"]
        for thread in threads["threads"]:
            text = ask("thread", "functions", "--thread", thread["threadHandle"], "--limit", "0",
                       "--include-idle", "--json")
            functions = json.loads(text)["functions"]
            for function in functions:
                print(function["totalSamples"], function["selfSamples"], function["name"])
    finally:
        run("stop", "--all")


if __name__ == "__main__":
    main()
