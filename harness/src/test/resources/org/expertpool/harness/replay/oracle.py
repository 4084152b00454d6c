#!/usr/bin/env python3
"""An implementation of the pool semantics that shares nothing with the Java code, and the golden files made with it.

oracle.py golden            writes random.steps.jsonl and random.expected.jsonl beside itself
oracle.py stream SEED N L E K ROWS T   prints N lines of a random stream
oracle.py run FILE L E K ROWS T        prints what replay must print for FILE
"""
import hashlib
import json
import math
import os
import random
import struct
import sys

GOLDEN = dict(seed=20261129, lines=250, L=3, E=9, K=2, N=3, T=3)
I32_MAX = 2**31 - 1


def f32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


class Pool:
    def __init__(self, L, E, K, N, T):
        self.L, self.E, self.n = L, E, min(N, E - 1)
        self.S = K * max(1, min(T, 64 // K))
        self.R = L * self.n + self.S
        self.where = {(l, e): l * self.n + e for l in range(L) for e in range(self.n)}
        self.used = {row: 0 for row in range(L * self.n)}
        self.missed = {}
        self.clock = self.forwards = self.error = 0
        self.c = dict(gate=0, promoteLimit=0, promoteInterval=1, promoteMinMisses=1, protectRecent=0)

    def step(self, l, ids, weights):
        safe = []
        for i, w in zip(ids, weights):
            good = 0 <= i < self.E and math.isfinite(w) and not w < 0
            if i != -1 and not good:
                self.error = 1
            safe.append(i if good else -1)
        chosen = list(dict.fromkeys(i for i in safe if i != -1))
        c, open_ = self.c, self.c["gate"] == 1
        if open_:
            self.clock += 1
            self.forwards += l == 0
            for e in chosen:
                if (l, e) in self.where:
                    self.used[self.where[l, e]] = self.clock
        # fmod keeps the sign of the dividend, as the signed remainder of C does
        turn = open_ and math.fmod(self.forwards - 1, c["promoteInterval"]) == 0
        promotions, staged = [], []
        for e in chosen:
            if (l, e) in self.where:
                continue
            if open_:
                self.missed[l, e] = self.missed.get((l, e), 0) + 1
            row = None
            if turn and (c["promoteLimit"] == 0 or len(promotions) < c["promoteLimit"]):
                if self.missed[l, e] >= c["promoteMinMisses"]:
                    row = self.victim()
            if row is None:
                staged.append([e, self.L * self.n + len(staged)])
            else:
                owner = next(k for k, r in self.where.items() if r == row)
                del self.where[owner]
                self.where[l, e] = row
                self.used[row] = self.clock
                self.missed.pop((l, e))
                promotions.append([e, row])
        routed = dict(staged)
        routes = [-1 if e == -1 else routed.get(e, self.where.get((l, e))) for e in safe]
        return {
            "copies": promotions + staged, "promoted": len(promotions), "staged": len(staged), "routes": routes,
            "safeIds": safe, "error": self.error, "clock": self.clock, "forwards": self.forwards, "tables": self.hash(),
        }

    def victim(self):
        recent = self.c["protectRecent"]
        free = [
            (use, row) for row, use in self.used.items()
            if use < self.clock and (recent == 0 or use < self.clock - recent * self.L)
        ]
        return min(free)[1] if free else None

    def hash(self):
        keys = [(l, e) for l in range(self.L) for e in range(self.E)]
        owner = {row: l * self.E + e for (l, e), row in self.where.items()}
        hot = [self.where.get(k, -1) for k in keys]
        cold = [-1 if k in self.where else k[1] for k in keys]
        row_key = [owner.get(row, -1) for row in range(self.R)]
        row_use = [self.used.get(row, 2**63 - 1) for row in range(self.R)]
        misses = [self.missed.get(k, 0) for k in keys]
        data = struct.pack("<%di%di%di" % (len(hot), len(cold), len(row_key)), *hot, *cold, *row_key)
        data += struct.pack("<%dq%di" % (len(row_use), len(misses)), *row_use, *misses)
        return hashlib.sha256(data).hexdigest()


def replay(lines, L, E, K, N, T):
    pool = Pool(L, E, K, N, T)
    for line in lines:
        entry = json.loads(line)
        if "control" in entry:
            pool.c.update(entry["control"])
        elif "clearError" in entry:
            pool.error = 0
        else:
            ids = entry["ids"]
            weights = [f32(w) for w in entry.get("weights", [1.0] * len(ids))]
            yield json.dumps(pool.step(entry["layer"], ids, weights), separators=(",", ":"))


def stream(seed, lines, L, E, K, N, T):
    r = random.Random(seed)
    S = K * max(1, min(T, 64 // K))
    choices = dict(
        gate=[0, 1, 1, 1], promoteLimit=[0, 0, 1, 2, S, I32_MAX], promoteInterval=[1, 1, 2, 3, I32_MAX],
        promoteMinMisses=[1, 1, 2, 3, I32_MAX], protectRecent=[0, 0, 1, 2, I32_MAX],
    )
    layer = 0
    for _ in range(lines):
        if r.random() < 0.12:
            names = r.sample(list(choices), r.randint(1, 2))
            yield json.dumps({"control": {name: r.choice(choices[name]) for name in names}})
        elif r.random() < 0.03:
            yield json.dumps({"clearError": True})
        else:
            few = r.randint(1, E)
            ids = [r.randrange(few) for _ in range(r.choice([1, S, r.randint(1, S)]))]
            weights = [r.random() for _ in ids]
            for i in range(len(ids)):
                if r.random() < 0.06:
                    ids[i] = r.choice([-1, -1, E, -2, I32_MAX, -(2**31)])
                if r.random() < 0.04:
                    weights[i] = r.choice([0, -0.0, -1, -1e-44, -1e-46, 1e39, 3.5e38, 3.4e38, 1e-46])
            entry = {"layer": layer, "ids": ids}
            if r.random() < 0.8:
                entry["weights"] = weights
            yield json.dumps(entry)
            layer = r.randrange(L) if r.random() < 0.05 else (layer + 1) % L


def main(args):
    if args[0] == "golden":
        here = os.path.dirname(os.path.abspath(__file__))
        shape = [GOLDEN[name] for name in "LEKNT"]
        steps = list(stream(GOLDEN["seed"], GOLDEN["lines"], *shape))
        for name, lines in (("steps", steps), ("expected", replay(steps, *shape))):
            with open(os.path.join(here, "random.%s.jsonl" % name), "w") as out:
                out.writelines(line + "\n" for line in lines)
    elif args[0] == "stream":
        print("\n".join(stream(*map(int, args[1:]))))
    else:
        with open(args[1]) as lines:
            for line in replay(lines, *map(int, args[2:])):
                print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
