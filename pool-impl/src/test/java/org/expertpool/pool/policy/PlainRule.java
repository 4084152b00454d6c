package org.expertpool.pool.policy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Eviction rules once more, from their published texts, on lists, maps and histories searched from end to end: what the
 * fast ones are held against. One object serves the rows of one group. Shares no code with them.
 */
abstract class PlainRule {
    /** Rows of the group that may be given up; row numbers count from 0 within the group. */
    final int rows;

    final Map<Integer, Integer> keyOf = new HashMap<>(); // row to owner

    PlainRule(int rows) {
        this.rows = rows;
    }

    /** The row has this owner at the start. */
    void starts(int row, int key) {
        keyOf.put(row, key);
    }

    /** A key is selected at a clock in a forward; row is null if it is not resident. */
    void selected(int key, Integer row, float weight, long clock, int forward) {}

    /** Which of the candidates, ascending and not empty, goes for the missing key. */
    abstract int choose(List<Integer> candidates, int key, long clock, int forward);

    /** The row changes its owner. */
    void moves(int row, int key, long clock) {
        keyOf.put(row, key);
    }

    void eventEnds() {}

    static <T extends Comparable<T>> int least(List<Integer> candidates, IntFunction<T> score) {
        return candidates.stream()
                .min(Comparator.comparing((Integer row) -> score.apply(row)).thenComparing(row -> row))
                .orElseThrow();
    }

    static Map<String, IntFunction<PlainRule>> all() {
        Map<String, IntFunction<PlainRule>> all = new HashMap<>();
        long[] promotions = new long[1]; // of all groups together
        all.put("evict.random(9)", n -> new Random(n, promotions));
        all.put("evict.fifo", Fifo::new);
        all.put("evict.clock", Clock::new);
        all.put("evict.sieve", Sieve::new);
        all.put("evict.s3-fifo", S3Fifo::new);
        all.put("evict.2q", TwoQueue::new);
        all.put("evict.arc", Arc::new);
        all.put("evict.lru-2", Lru2::new);
        all.put("evict.lfu", n -> new Lfu(n, Integer.MAX_VALUE));
        all.put("evict.lfu-halving(5)", n -> new Lfu(n, 5));
        all.put("evict.lfu-decayed(0.5)", n -> new Decayed(n, 0.5, false));
        all.put("evict.lfu-decayed(0.9)", n -> new Decayed(n, 0.9, false));
        all.put("evict.gate-ewma(0.5)", n -> new Decayed(n, 0.5, true));
        all.put("evict.lru", Lru::new);
        all.put("evict.lfru", Lfru::new);
        all.put("evict.w-tinylfu(10)", n -> new WTinyLfu(n, 10));
        all.put("evict.w-tinylfu(50)", n -> new WTinyLfu(n, 50));
        return all;
    }

    /** SplitMix64's finaliser of seed and counter, in arithmetic without a fixed width; 32 bits. */
    static BigInteger hash(long seed, long counter) {
        BigInteger width = BigInteger.ONE.shiftLeft(64);
        BigInteger z = BigInteger.valueOf(seed)
                .shiftLeft(32)
                .add(BigInteger.valueOf(counter + 1).multiply(new BigInteger("9E3779B97F4A7C15", 16)))
                .mod(width);
        z = z.xor(z.shiftRight(30))
                .multiply(new BigInteger("BF58476D1CE4E5B9", 16))
                .mod(width);
        z = z.xor(z.shiftRight(27))
                .multiply(new BigInteger("94D049BB133111EB", 16))
                .mod(width);
        return z.xor(z.shiftRight(31)).shiftRight(32);
    }

    private static final class Random extends PlainRule {
        private final long[] promotions;

        Random(int rows, long[] promotions) {
            super(rows);
            this.promotions = promotions;
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return candidates.get(hash(9, promotions[0])
                    .multiply(BigInteger.valueOf(candidates.size()))
                    .shiftRight(32)
                    .intValueExact());
        }

        @Override
        void moves(int row, int key, long clock) {
            promotions[0]++;
        }
    }

    private static final class Fifo extends PlainRule {
        private final Map<Integer, Long> entered = new HashMap<>();

        Fifo(int rows) {
            super(rows);
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(candidates, row -> entered.getOrDefault(row, 0L));
        }

        @Override
        void moves(int row, int key, long clock) {
            entered.put(row, clock);
        }
    }

    private static final class Lru extends PlainRule {
        private final Map<Integer, Long> used = new HashMap<>();

        Lru(int rows) {
            super(rows);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            used.put(row, clock);
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(candidates, row -> used.getOrDefault(row, 0L));
        }

        @Override
        void moves(int row, int key, long clock) {
            used.put(row, clock);
        }
    }

    private static final class Clock extends PlainRule {
        private final LinkedHashSet<Integer> referenced = new LinkedHashSet<>();
        private int hand;

        Clock(int rows) {
            super(rows);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            if (row != null) {
                referenced.add(row);
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            while (true) {
                if (candidates.contains(hand) && !referenced.remove(hand)) {
                    return hand;
                }
                hand = (hand + 1) % rows;
            }
        }

        @Override
        void moves(int row, int key, long clock) {
            referenced.remove(row);
            if (keyOf.put(row, key) != null) {
                hand = (row + 1) % rows;
            }
        }
    }

    private static final class Sieve extends PlainRule {
        private final List<Integer> queue = new ArrayList<>(); // oldest first
        private final LinkedHashSet<Integer> visited = new LinkedHashSet<>();
        private int hand; // place in the queue

        Sieve(int rows) {
            super(rows);
        }

        @Override
        void starts(int row, int key) {
            queue.add(row);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            if (row != null) {
                visited.add(row);
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            while (true) {
                hand = hand % queue.size();
                int row = queue.get(hand);
                if (candidates.contains(row) && !visited.remove(row)) {
                    return row;
                }
                hand++;
                if (hand == queue.size()) {
                    hand = 0;
                }
            }
        }

        @Override
        void moves(int row, int key, long clock) {
            int place = queue.indexOf(row);
            if (place >= 0) {
                queue.remove(place);
                hand = place == queue.size() ? 0 : place; // past the newest the next round starts at the oldest
            }
            visited.remove(row);
            queue.add(row);
        }
    }

    private static final class S3Fifo extends PlainRule {
        private final List<Integer> small = new ArrayList<>(); // oldest first
        private final List<Integer> main = new ArrayList<>();
        private final List<Integer> evictedFromSmall = new ArrayList<>(); // all keys ever, ABSENT where taken back
        private final Map<Integer, Integer> hits = new HashMap<>();

        S3Fifo(int rows) {
            super(rows);
        }

        private int smallRows() {
            return Math.max(1, rows / 10);
        }

        @Override
        void starts(int row, int key) {
            super.starts(row, key);
            small.add(row);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            if (row != null) {
                hits.put(row, Math.min(3, hits.getOrDefault(row, 0) + 1));
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            boolean smallFirst = small.size() >= smallRows();
            Integer chosen = smallFirst ? fromSmall(candidates) : fromMain(candidates);
            if (chosen == null) {
                chosen = smallFirst ? fromMain(candidates) : fromSmall(candidates);
            }
            return chosen;
        }

        private Integer fromSmall(List<Integer> candidates) {
            for (int row : List.copyOf(small)) {
                if (!candidates.contains(row)) {
                    continue;
                }
                if (hits.getOrDefault(row, 0) <= 1) {
                    return row;
                }
                small.remove((Integer) row);
                main.add(row);
                hits.put(row, 0);
                if (main.size() > rows - smallRows()) {
                    return fromMain(candidates);
                }
            }
            return null;
        }

        private Integer fromMain(List<Integer> candidates) {
            while (main.stream().anyMatch(candidates::contains)) {
                int row = main.stream().filter(candidates::contains).findFirst().orElseThrow();
                int left = hits.getOrDefault(row, 0);
                if (left == 0) {
                    return row;
                }
                hits.put(row, left - 1);
                main.remove((Integer) row);
                main.add(row);
            }
            return null;
        }

        @Override
        void moves(int row, int key, long clock) {
            if (small.remove((Integer) row)) {
                evictedFromSmall.add(keyOf.get(row));
            }
            main.remove((Integer) row);
            int ghosts = Math.min(rows - smallRows(), evictedFromSmall.size());
            List<Integer> ghost = evictedFromSmall.subList(evictedFromSmall.size() - ghosts, evictedFromSmall.size());
            boolean remembered = ghost.contains(key);
            evictedFromSmall.replaceAll(evicted -> evicted == key ? -1 : evicted);
            (remembered ? main : small).add(row);
            hits.put(row, 0);
            keyOf.put(row, key);
        }
    }

    private static final class TwoQueue extends PlainRule {
        private final List<Integer> in = new ArrayList<>(); // oldest first
        private final List<Integer> out = new ArrayList<>(); // keys
        private final List<Integer> main = new ArrayList<>(); // least recently used first

        TwoQueue(int rows) {
            super(rows);
        }

        @Override
        void starts(int row, int key) {
            super.starts(row, key);
            in.add(row);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            if (main.remove(row)) {
                main.add(row);
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            List<Integer> order = new ArrayList<>();
            boolean inFirst = in.size() > Math.max(1, rows / 4);
            order.addAll(inFirst ? in : main);
            order.addAll(inFirst ? main : in);
            return order.stream().filter(candidates::contains).findFirst().orElseThrow();
        }

        @Override
        void moves(int row, int key, long clock) {
            boolean remembered = out.remove((Integer) key);
            if (in.remove((Integer) row)) {
                out.add(keyOf.get(row));
                if (out.size() > Math.max(1, rows / 2)) {
                    out.remove(0);
                }
            }
            main.remove((Integer) row);
            (remembered ? main : in).add(row);
            keyOf.put(row, key);
        }
    }

    /** The cases of the paper's figure: deletions from the ghosts come before the replacement. */
    private static final class Arc extends PlainRule {
        private final List<Integer> t1 = new ArrayList<>(); // rows, least recently used first
        private final List<Integer> t2 = new ArrayList<>();
        private final List<Integer> b1 = new ArrayList<>(); // keys
        private final List<Integer> b2 = new ArrayList<>();
        private double p;
        private boolean droppedFromT1;

        Arc(int rows) {
            super(rows);
        }

        @Override
        void starts(int row, int key) {
            super.starts(row, key);
            t1.add(row);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            if (row != null) {
                t1.remove(row);
                t2.remove(row);
                t2.add(row);
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            droppedFromT1 = false;
            boolean inB2 = b2.contains(key);
            if (b1.contains(key)) {
                p = Math.min(rows, p + Math.max(1.0, (double) b2.size() / b1.size()));
            } else if (inB2) {
                p = Math.max(0, p - Math.max(1.0, (double) b1.size() / b2.size()));
            } else if (t1.size() + b1.size() >= rows) {
                if (t1.size() < rows) {
                    b1.remove(0);
                } else {
                    droppedFromT1 = true;
                }
            } else if (t1.size() + t2.size() + b1.size() + b2.size() >= 2 * rows) {
                b2.remove(0);
            }
            boolean first = droppedFromT1 || (!t1.isEmpty() && (t1.size() > p || (inB2 && t1.size() == p)));
            List<Integer> order = new ArrayList<>(first ? t1 : t2);
            order.addAll(first ? t2 : t1);
            return order.stream().filter(candidates::contains).findFirst().orElseThrow();
        }

        @Override
        void moves(int row, int key, long clock) {
            if (t1.remove((Integer) row) && !droppedFromT1) {
                b1.add(keyOf.get(row));
            }
            if (t2.remove((Integer) row)) {
                b2.add(keyOf.get(row));
            }
            boolean remembered = b1.contains(key) || b2.contains(key);
            b1.remove((Integer) key);
            b2.remove((Integer) key);
            (remembered ? t2 : t1).add(row);
            keyOf.put(row, key);
        }
    }

    private static final class Lru2 extends PlainRule {
        private final Map<Integer, List<Long>> uses = new HashMap<>(); // by key

        Lru2(int rows) {
            super(rows);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            uses.computeIfAbsent(key, none -> new ArrayList<>()).add(clock);
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(candidates, row -> {
                List<Long> own = uses.getOrDefault(keyOf.get(row), List.of());
                return own.size() < 2 ? 0L : own.get(own.size() - 2);
            });
        }
    }

    private static final class Lfu extends PlainRule {
        private final int period;
        private final Map<Integer, List<Integer>> uses = new HashMap<>(); // forwards, by key
        private final Map<Integer, Long> lastUse = new HashMap<>(); // clock, by row

        Lfu(int rows, int period) {
            super(rows);
            this.period = period;
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            uses.computeIfAbsent(key, none -> new ArrayList<>()).add(forward);
            if (row != null) {
                lastUse.put(row, clock);
            }
        }

        /** Counts up through the forwards and halves at each multiple of the period. */
        private int count(int key, int now) {
            int count = 0;
            for (int forward = 0; forward <= now; forward++) {
                int here = forward;
                count = forward > 0 && forward % period == 0 ? count / 2 : count;
                count += (int) uses.getOrDefault(key, List.of()).stream()
                        .filter(use -> use == here)
                        .count();
            }
            return count;
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(
                    candidates, row -> count(keyOf.get(row), forward) * 1_000_000L + lastUse.getOrDefault(row, 0L));
        }

        @Override
        void moves(int row, int key, long clock) {
            super.moves(row, key, clock);
            lastUse.put(row, clock);
        }
    }

    /** Sums over the history. With decay 1/2 sums are exact; with 0.9 only equal histories have equal sums. */
    private static final class Decayed extends PlainRule {
        private record Use(int forward, double added) {}

        private final double decay;
        private final boolean byWeight;
        private final Map<Integer, List<Use>> uses = new HashMap<>(); // by key

        Decayed(int rows, double decay, boolean byWeight) {
            super(rows);
            this.decay = decay;
            this.byWeight = byWeight;
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            uses.computeIfAbsent(key, none -> new ArrayList<>()).add(new Use(forward, byWeight ? weight : 1));
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(
                    candidates,
                    row -> uses.getOrDefault(keyOf.get(row), List.of()).stream()
                            .mapToDouble(use -> use.added * Math.pow(decay, forward - use.forward))
                            .boxed()
                            .reduce(0.0, Double::sum));
        }
    }

    private static final class Lfru extends PlainRule {
        private final Map<Integer, List<Integer>> uses = new HashMap<>(); // forwards, by key

        Lfru(int rows) {
            super(rows);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            uses.computeIfAbsent(key, none -> new ArrayList<>()).add(forward);
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            return least(candidates, row -> {
                List<Integer> own = uses.getOrDefault(keyOf.get(row), List.of());
                // Quotients of numbers this small differ by far more than their rounding, or are equal.
                return own.isEmpty() ? 0.0 : own.size() / (forward - own.get(own.size() - 1) + 1.0);
            });
        }
    }

    private static final class WTinyLfu extends PlainRule {
        private final int windowRows;
        private final List<Integer> window = new ArrayList<>(); // least recently used first
        private final List<Integer> probation = new ArrayList<>();
        private final List<Integer> guarded = new ArrayList<>();
        private final Map<Integer, Integer> counts = new HashMap<>();
        private long requests;
        private Integer winner;

        WTinyLfu(int rows, int windowPercent) {
            super(rows);
            windowRows = Math.max(1, rows * windowPercent / 100);
        }

        @Override
        void starts(int row, int key) {
            super.starts(row, key);
            probation.add(row);
        }

        @Override
        void selected(int key, Integer row, float weight, long clock, int forward) {
            counts.put(key, Math.min(15, counts.getOrDefault(key, 0) + 1));
            requests++;
            if (row == null) {
                return;
            }
            if (window.remove(row)) {
                window.add(row);
                return;
            }
            probation.remove(row);
            guarded.remove(row);
            guarded.add(row);
            if (guarded.size() > (int) (0.8 * (rows - windowRows) + 1e-9)) {
                probation.add(guarded.remove(0));
            }
        }

        @Override
        int choose(List<Integer> candidates, int key, long clock, int forward) {
            winner = null;
            List<Integer> mainOrder = new ArrayList<>(probation);
            mainOrder.addAll(guarded);
            Integer victim =
                    mainOrder.stream().filter(candidates::contains).findFirst().orElse(null);
            Integer candidate =
                    window.stream().filter(candidates::contains).findFirst().orElse(null);
            if (victim == null) {
                return candidate;
            }
            if (candidate == null || window.size() < windowRows) {
                return victim;
            }
            if (counts.getOrDefault(keyOf.get(candidate), 0) > counts.getOrDefault(keyOf.get(victim), 0)) {
                winner = candidate;
                return victim;
            }
            return candidate;
        }

        @Override
        void moves(int row, int key, long clock) {
            boolean filling = keyOf.put(row, key) == null;
            window.remove((Integer) row);
            probation.remove((Integer) row);
            guarded.remove((Integer) row);
            if (winner != null) {
                window.remove(winner);
                probation.add(winner);
                winner = null;
            }
            window.add(row);
            if (filling && window.size() > windowRows) {
                probation.add(window.remove(0));
            }
        }

        @Override
        void eventEnds() {
            if (requests >= 10L * rows) {
                requests = 0;
                counts.replaceAll((key, count) -> count / 2);
            }
        }
    }
}
