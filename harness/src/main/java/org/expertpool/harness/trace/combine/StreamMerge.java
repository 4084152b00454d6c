package org.expertpool.harness.trace.combine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.ForwardSink;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.combine.Sequences.Sequence;
import org.expertpool.pool.BadInputException;

/**
 * Sequences side by side, as a server decodes several requests at once. Each forward takes one decode token of each
 * stream, in stream order; a stream whose sequence is over takes the next one at once, and when none is left forwards get
 * narrower. A prefill chunk is a forward of its own, before the decode token that follows it. The result is one
 * sequence, whose positions count tokens.
 */
public final class StreamMerge {
    private final List<RoutingTrace> traces;
    private final int streams;
    private final OptionalLong seed;
    private final TraceShape shape;

    /**
     * @param traces of one shape; their sequences follow each other in this order
     * @param streams sequences side by side, at least 1
     * @param seed order of the sequences by {@link Random}; empty: as they come
     */
    public StreamMerge(List<RoutingTrace> traces, int streams, OptionalLong seed) {
        if (streams < 1) {
            throw new BadInputException("merge streams: " + streams + ", expected at least 1");
        }
        this.traces = List.copyOf(traces);
        this.streams = streams;
        this.seed = seed;
        TraceShape first = traces.get(0).shape();
        boolean weighted = true;
        for (RoutingTrace trace : traces) {
            TraceShape other = trace.shape();
            if (other.layers() != first.layers()
                    || other.experts() != first.experts()
                    || other.topK() != first.topK()) {
                throw new BadInputException("merge: " + trace.source() + " has " + words(other) + ", expected "
                        + words(first) + " as in " + traces.get(0).source());
            }
            weighted &= other.weighted();
        }
        shape = new TraceShape(first.layers(), first.experts(), first.topK(), weighted);
    }

    private static String words(TraceShape shape) {
        return shape.layers() + " layers, " + shape.experts() + " experts, top " + shape.topK();
    }

    /** Shape of the result: with weights where all inputs have them. */
    public TraceShape shape() {
        return shape;
    }

    /** Where the result comes from, in words. */
    public String source() {
        return "merge of " + streams + " streams, sequences "
                + (seed.isPresent() ? "shuffled with seed " + seed.getAsLong() : "in file order") + ", of: "
                + traces.stream().map(RoutingTrace::source).collect(Collectors.joining("; "));
    }

    /** Hands the merged forwards to a sink. */
    public void writeTo(ForwardSink sink) {
        Iterator<Sequence> waiting = order().iterator();
        List<Stream> playing =
                IntStream.range(0, streams).mapToObj(i -> new Stream()).toList();
        WideForward decode = new WideForward(shape, sink);
        WideForward prefill = new WideForward(shape, sink);
        int position = 0;
        while (true) {
            for (Stream stream : playing) {
                position += addDecode(stream, waiting, decode, prefill, position);
            }
            if (decode.tokens() == 0) {
                return;
            }
            int tokens = decode.tokens();
            decode.emit(position == 0, false, position);
            position = Math.addExact(position, tokens);
        }
    }

    /** Plays a stream up to its next decode token; returns the prefill tokens that went out on the way. */
    private static int addDecode(
            Stream stream, Iterator<Sequence> waiting, WideForward decode, WideForward prefill, int position) {
        int passed = 0;
        while (!stream.isOver() || waiting.hasNext()) {
            if (stream.isOver()) {
                stream.play(waiting.next());
            }
            ForwardCursor forward = stream.next();
            if (!forward.isPrefill()) {
                decode.add(forward);
                return passed;
            }
            prefill.add(forward);
            prefill.emit(position + passed == 0, true, Math.addExact(position, passed));
            passed += forward.tokens();
        }
        return passed;
    }

    private List<Sequence> order() {
        List<Sequence> order = new ArrayList<>();
        traces.forEach(trace -> order.addAll(Sequences.of(trace)));
        seed.ifPresent(value -> Collections.shuffle(order, new Random(value)));
        return order;
    }
}
