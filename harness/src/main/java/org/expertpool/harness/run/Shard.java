package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.expertpool.pool.BadInputException;

/**
 * Part {@code index} of {@code count} of an experiment, for job arrays. Cells that share a simulation stay together;
 * simulations are dealt out in turn, so that the shards together are the whole and none overlaps another.
 *
 * @param index from 1
 */
record Shard(int index, int count) {
    static final Shard WHOLE = new Shard(1, 1);

    private static final Pattern FORM = Pattern.compile("([0-9]{1,6})/([0-9]{1,6})");

    Shard {
        if (count < 1 || index < 1 || index > count) {
            throw new BadInputException("--shard " + index + "/" + count + ": expected i/n with 1 <= i <= n");
        }
    }

    static Shard parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new BadInputException("--shard " + text + ": expected i/n with 1 <= i <= n");
        }
        return new Shard(Integer.parseInt(form.group(1)), Integer.parseInt(form.group(2)));
    }

    boolean isFirst() {
        return index == 1;
    }

    List<Cell> of(List<Cell> cells) {
        Map<Map<String, String>, Integer> turns = new LinkedHashMap<>();
        List<Cell> mine = new ArrayList<>();
        for (Cell cell : cells) {
            int turn = turns.computeIfAbsent(cell.simulationKey(), key -> turns.size());
            if (turn % count == index - 1) {
                mine.add(cell);
            }
        }
        return mine;
    }

    @Override
    public String toString() {
        return index + "/" + count;
    }
}
