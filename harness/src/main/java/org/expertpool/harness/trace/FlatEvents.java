package org.expertpool.harness.trace;

/**
 * Gives events that only name their layer a token number: a new forward, of one token, starts where the layer number does
 * not increase. All forwards are one sequence.
 */
final class FlatEvents {
    private final TextFile file;
    private final int topK;
    private final EventReader.Sink sink;
    private final RouteEvent event = new RouteEvent();
    private long previousLayer = -1;
    private boolean inEvent;

    /**
     * @param topK experts of each event; 0 where the events show it themselves
     */
    FlatEvents(TextFile file, int topK, EventReader.Sink sink) {
        this.file = file;
        this.topK = topK;
        this.sink = sink;
    }

    /** The next number of a stream without brackets, a layer or an expert. */
    void number(long line, long value) {
        if (!inEvent) {
            begin(line, value);
        } else {
            expert(value);
        }
        if (event.lanes == topK) {
            end();
        }
    }

    /** Starts an event with its layer. */
    void begin(long line, long layer) {
        event.line = line;
        event.token += layer <= previousLayer ? 1 : 0;
        event.layer = layer;
        event.lanes = 0;
        previousLayer = layer;
        inEvent = true;
    }

    /** Adds an expert to the event. */
    void expert(long id) {
        event.setId(event.lanes, id);
        event.lanes++;
    }

    /** Ends the event. */
    void end() {
        checkWidth(event.line);
        inEvent = false;
        sink.event(event);
    }

    /** Checks that the stream did not end within an event. */
    void endStream(long line) {
        if (inEvent) {
            checkWidth(line);
        }
    }

    private void checkWidth(long line) {
        if (topK != 0 && event.lanes != topK) {
            throw file.bad(
                    line,
                    "the event of token " + event.token + " layer " + event.layer + " has " + event.lanes
                            + " experts, expected top_k = " + topK);
        }
    }
}
