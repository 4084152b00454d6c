package org.expertpool.harness.trace;

/**
 * Joins events, which come ordered, into decode forwards of one token; a gap or a duplicate event is an error with its
 * line.
 */
final class ForwardAssembler implements EventReader.Sink {
    private final TextFile file;
    private final TraceShape shape;
    private final ForwardSink sink;
    private final int[] ids;
    private final float[] weights;
    private boolean started;
    private boolean startsSequence;
    private long line;
    private long sequence;
    private long token;
    private long layer;

    ForwardAssembler(TextFile file, TraceShape shape, ForwardSink sink) {
        this.file = file;
        this.shape = shape;
        this.sink = sink;
        this.ids = new int[shape.layers() * shape.topK()];
        this.weights = shape.weighted() ? new float[ids.length] : null;
    }

    @Override
    public void event(RouteEvent event) {
        if (!started) {
            startsSequence = true;
            needLayer(event, 0);
        } else if (event.sequence == sequence && event.token == token) {
            if (event.layer == layer) {
                throw file.bad(event.line, place(event) + " a second time, expected it once (line " + line + ")");
            }
            needLayer(event, layer + 1);
        } else {
            needWhole(event.line);
            if (event.sequence == sequence && event.token != token + 1) {
                throw file.bad(
                        event.line,
                        "token " + event.token + " follows token " + token + " of sequence " + sequence
                                + ", expected token " + (token + 1));
            }
            startsSequence = event.sequence != sequence;
            needLayer(event, 0);
        }
        started = true;
        line = event.line;
        sequence = event.sequence;
        token = event.token;
        layer = event.layer;
        int from = (int) layer * shape.topK();
        for (int lane = 0; lane < shape.topK(); lane++) {
            ids[from + lane] = (int) event.ids[lane];
        }
        if (weights != null) {
            System.arraycopy(event.weights, 0, weights, from, shape.topK());
        }
        if (layer == shape.layers() - 1) {
            sink.forward(ForwardHeader.decode(startsSequence, (int) token), ids, weights);
        }
    }

    /** Checks that the last forward is whole. */
    void end() {
        needWhole(line);
    }

    private void needLayer(RouteEvent event, long expected) {
        if (event.layer != expected) {
            throw file.bad(event.line, place(event) + ", expected layer " + expected + " (a gap in the layers)");
        }
    }

    private void needWhole(long at) {
        if (layer != shape.layers() - 1) {
            throw file.bad(
                    at,
                    "sequence " + sequence + " token " + token + " ends after layer " + layer
                            + ", expected layers 0 to " + (shape.layers() - 1));
        }
    }

    private static String place(RouteEvent event) {
        return "sequence " + event.sequence + " token " + event.token + " layer " + event.layer;
    }
}
