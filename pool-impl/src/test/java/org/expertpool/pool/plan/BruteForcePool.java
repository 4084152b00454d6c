package org.expertpool.pool.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The pool of pool-semantics, written from its text with maps and sets and nothing of the code under test: an oracle
 * for small streams, not fast.
 */
final class BruteForcePool {
    record Expert(int layer, int id) {}

    record Copy(int expert, int row) {}

    record Outcome(
            List<Copy> promotions,
            List<Copy> staged,
            Map<Integer, Integer> rowByExpert,
            List<Integer> routes,
            List<Integer> safeIds) {}

    private final int layers;
    private final int experts;
    private final int firstStagingRow;
    final Map<Expert, Integer> rowOf = new HashMap<>();
    final TreeMap<Integer, Expert> ownerOf = new TreeMap<>();
    final Map<Integer, Long> lastUse = new HashMap<>();
    final Map<Expert, Integer> misses = new HashMap<>();
    final Map<String, Integer> controls = new HashMap<>(
            Map.of("gate", 0, "promoteLimit", 0, "promoteInterval", 1, "promoteMinMisses", 1, "protectRecent", 0));
    long clock;
    int forwards;
    boolean error;

    BruteForcePool(int layers, int experts, int residentPerLayer) {
        this.layers = layers;
        this.experts = experts;
        firstStagingRow = layers * residentPerLayer;
        int row = 0;
        for (int layer = 0; layer < layers; layer++) {
            for (int id = 0; id < residentPerLayer; id++) {
                give(new Expert(layer, id), row);
                lastUse.put(row++, 0L);
            }
        }
    }

    Outcome step(int layer, int[] ids, float[] weights, int lanes) {
        List<Integer> safe = new ArrayList<>();
        for (int i = 0; i < lanes; i++) {
            safe.add(judge(ids[i], weights[i]));
        }
        Set<Expert> selection = new LinkedHashSet<>();
        safe.stream().filter(id -> id != -1).forEach(id -> selection.add(new Expert(layer, id)));

        boolean open = controls.get("gate") == 1;
        if (open) {
            clock += 1;
            forwards += layer == 0 ? 1 : 0;
            selection.stream().filter(rowOf::containsKey).forEach(hit -> lastUse.put(rowOf.get(hit), clock));
        }
        List<Copy> promotions = new ArrayList<>();
        Map<Expert, Integer> staging = new LinkedHashMap<>();
        for (Expert wanted : selection) {
            if (rowOf.containsKey(wanted)) {
                continue;
            }
            if (open) {
                misses.merge(wanted, 1, Integer::sum);
            }
            Optional<Integer> victim = open ? victim(wanted, promotions.size()) : Optional.empty();
            if (victim.isPresent()) {
                int row = victim.get();
                rowOf.remove(ownerOf.get(row));
                give(wanted, row);
                lastUse.put(row, clock);
                misses.remove(wanted);
                promotions.add(new Copy(wanted.id, row));
            } else {
                staging.put(wanted, firstStagingRow + staging.size());
            }
        }
        Map<Integer, Integer> rowByExpert = new HashMap<>();
        rowOf.forEach((expert, row) -> {
            if (expert.layer == layer) {
                rowByExpert.put(expert.id, row);
            }
        });
        staging.forEach((expert, row) -> rowByExpert.put(expert.id, row));
        List<Copy> staged = new ArrayList<>();
        staging.forEach((expert, row) -> staged.add(new Copy(expert.id, row)));
        List<Integer> routes =
                safe.stream().map(id -> rowByExpert.getOrDefault(id, -1)).toList();
        return new Outcome(promotions, staged, rowByExpert, routes, safe);
    }

    private int judge(int id, float weight) {
        if (id == -1) {
            return -1;
        }
        boolean idInside = 0 <= id && id < experts;
        boolean weightGood = weight >= 0f && weight <= Float.MAX_VALUE; // false for NaN; true for -0
        if (idInside && weightGood) {
            return id;
        }
        error = true;
        return -1;
    }

    private Optional<Integer> victim(Expert wanted, int promotedSoFar) {
        int interval = controls.get("promoteInterval");
        int limit = controls.get("promoteLimit");
        int protect = controls.get("protectRecent");
        boolean turn = forwards == 0 ? interval == 1 : (forwards - 1) % interval == 0;
        boolean budget = limit == 0 || promotedSoFar < limit;
        boolean wantedEnough = misses.get(wanted) >= controls.get("promoteMinMisses");
        if (!turn || !budget || !wantedEnough) {
            return Optional.empty();
        }
        return ownerOf.keySet().stream()
                .filter(row -> lastUse.get(row) < clock)
                .filter(row -> protect == 0 || clock - lastUse.get(row) > (long) layers * protect)
                .min(Comparator.comparing((Integer row) -> lastUse.get(row)).thenComparing(row -> row));
    }

    private void give(Expert expert, int row) {
        rowOf.put(expert, row);
        ownerOf.put(row, expert);
    }
}
