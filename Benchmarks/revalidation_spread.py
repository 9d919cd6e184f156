#!/usr/bin/env python3
"""Simulates how the daily revalidations of many users spread over time. The result is the same in each run.

    python3 Benchmarks/revalidation_spread.py [--users 100000000] [--sample 20000] [--days 10] [--json]

Each user visits around a usual hour of the day, a few times, and skips a day now and then. As the worst case, all sign
in within the first ten minutes. A visit triggers a revalidation if the last one was at least the interval plus the
account's jitter ago: the rules and the hash of Sources/Sessions/Revalidation/RevalidationSchedule.swift. A sample of
users is simulated, and the results are scaled to all users.
"""

import argparse
import json
import math
import random

DAY = 86_400
INTERVAL = DAY
JITTER = INTERVAL / 24
# The share of visits in each hour of the day, with peaks in the morning, at noon and in the evening.
HOURS = [2, 1, 1, 1, 1, 2, 4, 7, 9, 8, 7, 7, 8, 7, 6, 6, 7, 8, 10, 12, 13, 11, 7, 4]
VISITS = 3
PRESENT = 0.8


def jitter(subject):
    """Returns the account's jitter, 0 to 1: FNV-1a of the subject, as the gateway computes it."""
    digest = 0xCBF29CE484222325
    for byte in subject.encode():
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return ((digest ^ digest >> 32) & 0xFFFFFFFF) / 2**32


def visits(chance, days):
    """Returns the times of one user's visits, in seconds."""
    habit = (chance.choices(range(24), HOURS)[0] + chance.random()) * 3_600
    moments = []
    for day in range(days):
        if chance.random() < PRESENT:
            moments += [day * DAY + habit + chance.gauss(0, 2 * 3_600) for _ in range(VISITS)]
    return sorted(moment for moment in moments if moment > 600)


def simulate(sample, days, seed=1):
    """Returns the revalidations by second, and the shortest time between two of one user."""
    checks = {}
    closest = math.inf
    for number in range(sample):
        chance = random.Random(f"{seed}/{number}")
        wait = INTERVAL + jitter(f"{number:06d}.{chance.getrandbits(128):032x}.{number % 10000:04d}") * JITTER
        asked = chance.random() * 600  # The sign-in counts as a revalidation.
        for moment in visits(chance, days):
            if moment - asked >= wait:
                closest = min(closest, moment - asked)
                asked = moment
                checks[int(moment)] = checks.get(int(moment), 0) + 1
    return checks, closest


def report(users, sample, days):
    checks, closest = simulate(sample, days)
    scale = users / sample
    # The sample is too small for single minutes: average over ten, whose peak is not much lower.
    window = 600
    lines = []
    for day in range(1, days):
        windows = {}
        for second, count in checks.items():
            if second // DAY == day:
                windows[second // window] = windows.get(second // window, 0) + count
        total = sum(windows.values())
        peak = max(windows.values(), default=0) / window
        lines.append({
            "day": day,
            "checks": round(total * scale),
            "mean_per_second": round(total * scale / DAY, 3),
            "peak_per_second": round(peak * scale, 3),
            "peak_to_mean": round(peak * DAY / total, 2) if total else 0,
        })
    return {"users": users, "sample": sample, "closest_hours": round(closest / 3_600, 4), "days": lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=100_000_000)
    parser.add_argument("--sample", type=int, default=20_000, help="number of simulated users")
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = report(options.users, options.sample, options.days)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['users']:,} users ({result['sample']:,} simulated), all signed in within the first ten minutes")
    print(f"{'day':>4} {'checks':>13} {'mean/s':>10} {'peak/s':>10} {'peak/mean':>10}")
    for line in result["days"]:
        print(
            f"{line['day']:>4} {line['checks']:>13,} {line['mean_per_second']:>10,.1f} "
            f"{line['peak_per_second']:>10,.1f} {line['peak_to_mean']:>10.2f}"
        )
    print(f"the shortest time between two questions about one user: {result['closest_hours']} hours")


if __name__ == "__main__":
    main()
