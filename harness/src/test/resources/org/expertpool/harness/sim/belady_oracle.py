"""Belady's bounds on gpt-oss-20b's routing, written apart from the project: where GptOssTraceTest's figures come from.

Usage: python3 belady_oracle.py gptoss20b-decode-routes.csv.gz   (about a minute)
Per-layer rows, file order, contents carried over, sequences 76 to 151 counted, experts 0..n-1 resident at the start.
"""
import csv
import gzip
import sys

LAYERS, TOP_K, FIRST_SCORED, NEVER = 24, 4, 76, 1 << 30


def read(path):
    layers = [[] for _ in range(LAYERS)]
    with gzip.open(path, "rt") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            layers[int(row[2])].append((int(row[0]), [int(e) for e in row[3 : 3 + TOP_K]]))
    return layers


def misses(events, n, forced):
    soonest, next_use = {}, [None] * len(events)
    for t in range(len(events) - 1, -1, -1):
        next_use[t] = {e: soonest.get(e, NEVER) for e in events[t][1]}
        soonest.update((e, t) for e in events[t][1])
    contents = {e: soonest.get(e, NEVER) for e in range(n)}
    missed = 0
    for (sequence, experts), following in zip(events, next_use):
        missed += (sequence >= FIRST_SCORED) * sum(e not in contents for e in experts)
        union = {**contents, **following}
        if forced:
            others = sorted((t, e) for e, t in contents.items() if e not in following)
            kept = others[: n - len(following)]
            contents = {**{e: t for t, e in kept}, **following}
        else:
            contents = {e: t for t, e in sorted((t, e) for e, t in union.items())[:n]}
    return missed


def main():
    layers = read(sys.argv[1])
    selections = TOP_K * sum(sequence >= FIRST_SCORED for events in layers for sequence, _ in events)
    for n in (10, 13, 16, 20):
        percent = [100 * sum(misses(events, n, forced) for events in layers) / selections for forced in (False, True)]
        print(f"{n} rows: with bypass {percent[0]:.4f} %, forced {percent[1]:.4f} %")


if __name__ == "__main__":
    main()
