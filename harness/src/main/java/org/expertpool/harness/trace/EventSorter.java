package org.expertpool.harness.trace;

import java.util.Arrays;
import java.util.stream.IntStream;

/** Holds events that came out of order, in primitive arrays, and gives them back in order. */
final class EventSorter implements EventReader.Sink {
    private final TextFile file;
    private final TraceShape shape;
    private final long[] lines;
    private final int[] sequences;
    private final int[] tokens;
    private final char[] layers;
    private final char[] ids;
    private final float[] weights;
    private int count;

    EventSorter(TextFile file, TraceShape shape, long events) {
        this.file = file;
        this.shape = shape;
        long lanes = Math.multiplyExact(events, shape.topK());
        long bytes = events * (Long.BYTES + 2L * Integer.BYTES + Character.BYTES + 2L * Long.BYTES)
                + lanes * (Character.BYTES + (shape.weighted() ? Float.BYTES : 0));
        if (lanes > Integer.MAX_VALUE - 8 || bytes > Runtime.getRuntime().maxMemory() / 2) {
            throw file.bad(
                    1,
                    events + " events out of order need " + (bytes >> 20)
                            + " MiB of heap to sort, expected a file ordered by sequence, token and layer");
        }
        this.lines = new long[(int) events];
        this.sequences = new int[(int) events];
        this.tokens = new int[(int) events];
        this.layers = new char[(int) events];
        this.ids = new char[(int) lanes];
        this.weights = shape.weighted() ? new float[(int) lanes] : null;
    }

    @Override
    public void event(RouteEvent event) {
        if (count == lines.length) {
            throw file.bad(event.line, "the file grew while it was read, expected " + count + " events");
        }
        lines[count] = event.line;
        sequences[count] = (int) event.sequence;
        tokens[count] = (int) event.token;
        layers[count] = (char) event.layer;
        for (int lane = 0; lane < shape.topK(); lane++) {
            ids[count * shape.topK() + lane] = (char) event.ids[lane];
        }
        if (weights != null) {
            System.arraycopy(event.weights, 0, weights, count * shape.topK(), shape.topK());
        }
        count++;
    }

    /** Hands the events on in order; events of the same place stay in file order. */
    void sortInto(EventReader.Sink sink) {
        // Boxed, for a sort that is stable and makes use of runs: recorded files are mostly ordered already.
        Integer[] order = IntStream.range(0, count).boxed().toArray(Integer[]::new);
        Arrays.sort(
                order,
                (a, b) -> EventOrder.compare(sequences[a], tokens[a], layers[a], sequences[b], tokens[b], layers[b]));
        RouteEvent event = new RouteEvent();
        event.lanes = shape.topK();
        event.weighted = weights != null;
        for (int i : order) {
            event.line = lines[i];
            event.sequence = sequences[i];
            event.token = tokens[i];
            event.layer = layers[i];
            for (int lane = 0; lane < shape.topK(); lane++) {
                event.setId(lane, ids[i * shape.topK() + lane]);
                if (weights != null) {
                    event.setWeight(lane, weights[i * shape.topK() + lane]);
                }
            }
            sink.event(event);
        }
    }
}
