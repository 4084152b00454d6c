package org.expertpool.pool.policy;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.expertpool.pool.plan.PoolConfig;

/**
 * The rows' groups and who owns each row before the first event. A group's pinned rows come first. Of a warm start's
 * experts the least selected lies in the lowest row, so that the order of rows, which breaks ties, gives it up first.
 */
final class StartPlacement {
    final int[] firstRow; // [groups + 1] group g has rows firstRow[g] .. firstRow[g + 1] - 1
    final int[] pinnedRows; // [groups]
    final int[] owner; // [L*n] key or ABSENT

    private final PolicySetup setup;
    private final PoolConfig pool;

    StartPlacement(PolicySetup setup) {
        this.setup = setup;
        pool = setup.pool();
        int groups = setup.scope() == Scope.GLOBAL ? 1 : pool.layers();
        firstRow = new int[groups + 1];
        pinnedRows = new int[groups];
        owner = new int[pool.poolRows()];
        Arrays.fill(owner, PoolState.ABSENT);
        for (int group = 0; group < groups; group++) {
            firstRow[group + 1] = firstRow[group] + rows(group);
        }
        if (firstRow[groups] != owner.length) {
            throw new IllegalArgumentException(
                    "layers' rows add up to " + firstRow[groups] + ", expected " + owner.length);
        }
        for (int group = 0; group < groups; group++) {
            fill(group);
        }
    }

    private int rows(int group) {
        return switch (setup.scope()) {
            case GLOBAL -> pool.poolRows();
            case LAYER -> pool.residentPerLayer();
            case MISS_CURVE -> setup.layerRows().orElseThrow()[group];
        };
    }

    private void fill(int group) {
        int rows = rows(group);
        pinnedRows[group] = (int) ((long) rows * setup.pinnedPercent() / 100);
        List<Integer> pinned = pinnedRows[group] == 0 ? List.of() : mostSelected(group, pinnedRows[group]);
        int row = firstRow[group];
        for (int key : pinned) {
            owner[row++] = key;
        }
        int free = rows - pinned.size();
        switch (setup.initial()) {
            case EMPTY -> {}
            case FIRST_N -> {
                List<Integer> first = firstKeys(group).boxed().collect(Collectors.toList());
                first.removeAll(pinned);
                for (int key : first.subList(0, free)) {
                    owner[row++] = key;
                }
            }
            case PROFILE -> {
                List<Integer> most = mostSelected(group, rows);
                for (int i = rows - 1; i >= pinned.size(); i--) {
                    owner[row++] = most.get(i);
                }
            }
        }
    }

    /** Enough keys to fill the group's rows even if all pinned ones are among them. */
    private IntStream firstKeys(int group) {
        if (setup.scope() != Scope.GLOBAL) {
            return IntStream.range(pool.key(group, 0), pool.key(group, 0) + pool.experts());
        }
        int perLayer = pool.residentPerLayer();
        return IntStream.range(0, pool.poolRows()).map(i -> pool.key(i / perLayer, i % perLayer));
    }

    /** Most selected first, the lower key among equals. */
    private List<Integer> mostSelected(int group, int keys) {
        long[] counts = setup.profile().orElseThrow();
        int from = setup.scope() == Scope.GLOBAL ? 0 : pool.key(group, 0);
        int to = setup.scope() == Scope.GLOBAL ? pool.keys() : from + pool.experts();
        return IntStream.range(from, to)
                .boxed()
                .sorted(Comparator.comparingLong((Integer key) -> counts[key])
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(keys)
                .collect(Collectors.toList());
    }
}
