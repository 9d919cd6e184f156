#!/usr/bin/env python3
"""Runs fuzz targets one after the other and prints statistics.

    fuzz.py [--seconds N] [--list] [TARGET ...]

Each target starts from its seeds, its cases and the corpus of earlier runs (.build/corpus), and runs for N seconds
(FUZZ_SECONDS, 120 by default). A failing input is written to Cases/TARGET, and the next target runs. Exit status: 0 if
nothing was found, 1 if something was, 2 if a target could not be run.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SWIFT = os.environ.get("SWIFT", "swift")


def build():
    """Compiles the fuzzer and returns its path."""
    target = json.loads(subprocess.check_output([SWIFT + "c", "-print-target-info"]))
    runtime = Path(target["paths"]["runtimeResourcePath"]) / "clang/lib/linux"
    machine = target["target"]["triple"].split("-")[0]
    # libFuzzer without main: Sources/Fuzz/main.swift has it.
    library = runtime / f"libclang_rt.fuzzer_no_main-{machine}.a"
    if not library.exists():
        sys.exit(f"fuzz.py: this toolchain has no libFuzzer ({library})")
    command = [SWIFT, "build", "--package-path", str(HERE), "--configuration", "release", "-Xlinker", str(library)]
    subprocess.run([*command, "--product", "fuzz"], check=True, stdout=sys.stderr)
    folder = subprocess.check_output([*command, "--show-bin-path"], text=True).strip()
    return Path(folder) / "fuzz"


def number(pattern, text):
    """Returns the last number that the pattern matches in the text, or 0."""
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzz(binary, target, seconds):
    """Runs one target. Returns whether it passed."""
    corpus = HERE / ".build/corpus" / target
    seeds, cases = HERE / "Seeds" / target, HERE / "Cases" / target
    for folder in (corpus, seeds, cases):
        folder.mkdir(parents=True, exist_ok=True)
    # An input of a kilobyte takes less than a millisecond in every target: ten seconds mean an endless loop.
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={cases}/", "-print_final_stats=1", "-timeout=10",
               "-max_len=4096"]
    known = {case.name for case in cases.iterdir()}
    log = HERE / ".build" / f"{target}.log"
    # Swift's backtrace would run before libFuzzer saves the input.
    environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    with open(log, "w", encoding="utf-8", errors="replace") as output:
        status = subprocess.run([binary, target, *options, corpus, seeds, cases], stdout=output,
                                stderr=subprocess.STDOUT, env=environment).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    runs = number(r"stat::number_of_executed_units:\s*(\d+)", text)
    speed = number(r"stat::average_exec_per_sec:\s*(\d+)", text)
    began = number(r"INITED cov: (\d+)", text)
    ended = number(r"cov: (\d+)", text)
    kept = number(r"corp: (\d+)", text)
    print(f"{target:<20}{runs:>12,} runs{speed:>9,}/s   coverage {ended:>5,} (+{ended - began:,})   corpus {kept:>5,}   "
          f"{'passed' if status == 0 else 'FAILED'}", flush=True)
    if status != 0:
        new = [case.name for case in cases.iterdir() if case.name not in known]
        reason = re.findall(r"^VIOLATION: .*", text, re.MULTILINE) or re.findall(r"^.*(?:Fatal error|ERROR).*", text,
                                                                                    re.MULTILINE)
        print(f"  {reason[0] if reason else f'status {status}'}\n  {', '.join(new) or 'no new case'}; log: {log}")
    return status == 0


def main():
    parser = argparse.ArgumentParser(description="Runs fuzz targets one after the other and prints statistics.")
    parser.add_argument("--seconds", type=int, default=int(os.environ.get("FUZZ_SECONDS") or 120))
    parser.add_argument("--list", action="store_true", help="list the targets")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    try:
        binary = build()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"fuzz.py: the fuzzer was not built: {error}", file=sys.stderr)
        return 2
    targets = subprocess.check_output([binary], text=True).split()
    if arguments.list:
        print("\n".join(targets))
        return 0
    unknown = set(arguments.targets) - set(targets)
    if unknown:
        print(f"fuzz.py: no target {', '.join(sorted(unknown))}; there are {', '.join(targets)}", file=sys.stderr)
        return 2
    results = [fuzz(binary, target, arguments.seconds) for target in arguments.targets or targets]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
