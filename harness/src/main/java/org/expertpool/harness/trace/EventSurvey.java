package org.expertpool.harness.trace;

/**
 * The first pass over a text form: checks each event in itself, and learns the shape and whether the events are in order.
 */
final class EventSurvey implements EventReader.Sink {
    private final TextFile file;
    private final int layerLimit;
    private final int expertLimit;
    private final int[] seenAt = new int[TraceShape.MAX];
    private int stamp;
    private long events;
    private boolean sorted = true;
    private long largestLayer = -1;
    private long largestExpert = -1;
    private int width;
    private boolean weighted;
    private long lastSequence;
    private long lastToken;
    private long lastLayer;

    EventSurvey(TextFile file, TraceOptions options) {
        this.file = file;
        this.layerLimit = options.layers().orElse(TraceShape.MAX);
        this.expertLimit = options.experts().orElse(TraceShape.MAX);
    }

    long events() {
        return events;
    }

    /** Whether the events come ordered by (sequence, token, layer). */
    boolean sorted() {
        return sorted;
    }

    /** The shape: what the options give, else what the events show, with a notice. */
    TraceShape shape(TraceOptions options) {
        if (events == 0) {
            throw file.bad(1, "no events in the file, expected at least one");
        }
        int layers = options.layers().orElse((int) largestLayer + 1);
        int experts = options.experts().orElse((int) largestExpert + 1);
        if (options.layers().isEmpty() || options.experts().isEmpty()) {
            options.notices()
                    .accept(file.path() + ": taken from the largest numbers in the file: "
                            + (options.layers().isEmpty() ? layers + " layers" : "")
                            + (options.layers().isEmpty() && options.experts().isEmpty() ? ", " : "")
                            + (options.experts().isEmpty() ? experts + " experts" : "")
                            + " (--layers and --experts set them)");
        }
        if (width > experts) {
            throw file.bad(1, "events have " + width + " experts, expected at most " + experts);
        }
        return new TraceShape(layers, experts, width, weighted);
    }

    @Override
    public void event(RouteEvent event) {
        if (events == 0) {
            width = event.lanes;
            weighted = event.weighted;
        }
        range(event, "sequence", event.sequence, Integer.MAX_VALUE);
        range(event, "token", event.token, Integer.MAX_VALUE);
        range(event, "layer", event.layer, layerLimit - 1L);
        width(event);
        for (int lane = 0; lane < event.lanes; lane++) {
            range(event, "expert id", event.ids[lane], expertLimit - 1L);
            largestExpert = Math.max(largestExpert, event.ids[lane]);
        }
        distinct(event);
        weights(event);
        order(event);
        events++;
        largestLayer = Math.max(largestLayer, event.layer);
    }

    private void range(RouteEvent event, String what, long value, long largest) {
        if (value < 0 || value > largest) {
            throw file.bad(event.line, what + " " + value + ", expected 0 to " + largest);
        }
    }

    private void width(RouteEvent event) {
        if (event.lanes != width || event.lanes == 0) {
            throw file.bad(
                    event.line,
                    event.lanes + " experts, expected "
                            + (events == 0 ? "at least 1" : width + " as in the first event"));
        }
        if (event.weighted != weighted) {
            throw file.bad(
                    event.line,
                    (event.weighted ? "weights" : "no weights") + ", expected " + (weighted ? "weights" : "none")
                            + " as in the first event");
        }
    }

    private void distinct(RouteEvent event) {
        stamp++;
        for (int lane = 0; lane < event.lanes; lane++) {
            int id = (int) event.ids[lane];
            if (seenAt[id] == stamp) {
                throw file.bad(event.line, "expert id " + id + " twice, expected distinct experts within a token");
            }
            seenAt[id] = stamp;
        }
    }

    private void weights(RouteEvent event) {
        for (int lane = 0; event.weighted && lane < event.lanes; lane++) {
            float weight = event.weights[lane];
            if (!(weight >= 0 && weight < Float.POSITIVE_INFINITY)) {
                throw file.bad(event.line, "weight " + weight + ", expected a finite number, at least 0");
            }
        }
    }

    private void order(RouteEvent event) {
        int step = EventOrder.compare(lastSequence, lastToken, lastLayer, event.sequence, event.token, event.layer);
        sorted &= events == 0 || step < 0;
        lastSequence = event.sequence;
        lastToken = event.token;
        lastLayer = event.layer;
    }
}
