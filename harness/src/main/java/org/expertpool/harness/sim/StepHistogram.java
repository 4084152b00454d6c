package org.expertpool.harness.sim;

/** How many counted steps selected {@code s} distinct experts of which {@code m} were misses: what a cost model needs. */
public final class StepHistogram {
    private final int width;
    private final long[] steps;

    /** @param maxSelected the most distinct experts a step can select */
    public StepHistogram(int maxSelected) {
        width = maxSelected + 1;
        steps = new long[width * width];
    }

    /** Counts one step. */
    public void add(int selected, int misses) {
        steps[selected * width + misses]++;
    }

    public int maxSelected() {
        return width - 1;
    }

    /** Counted steps with that many distinct experts and that many misses among them. */
    public long steps(int selected, int misses) {
        return steps[selected * width + misses];
    }

    /** Visits every (selected, misses) pair that occurred. */
    public void forEach(Visitor visitor) {
        for (int selected = 0; selected < width; selected++) {
            for (int misses = 0; misses <= selected; misses++) {
                if (steps(selected, misses) > 0) {
                    visitor.visit(selected, misses, steps(selected, misses));
                }
            }
        }
    }

    /** Takes one pair and the number of steps it occurred in. */
    @FunctionalInterface
    public interface Visitor {
        void visit(int selected, int misses, long steps);
    }
}
