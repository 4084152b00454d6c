package org.expertpool.harness.trace.synthetic;

import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;

/** Decode routing of one stream drawn from a {@link RoutingModel}; nothing is stored, each cursor draws it again. */
public final class SyntheticTrace implements RoutingTrace {
    private final RoutingModel model;
    private final long forwards;
    private final long seed;

    /**
     * @param forwards forwards of one token each, at least 1; a shorter trace is the beginning of a longer one
     * @param seed any number; with the model it fixes every id and weight
     */
    public SyntheticTrace(RoutingModel model, long forwards, long seed) {
        if (forwards < 1) {
            throw new BadInputException("synthetic trace: forwards is " + forwards + ", expected at least 1");
        }
        this.model = model;
        this.forwards = forwards;
        this.seed = seed;
    }

    @Override
    public TraceShape shape() {
        return model.shape();
    }

    @Override
    public long forwards() {
        return forwards;
    }

    @Override
    public String source() {
        return "synthetic " + model.name() + ", seed " + seed + ", " + forwards + " forwards";
    }

    @Override
    public ForwardCursor cursor() {
        return new SyntheticCursor(model, forwards, seed);
    }

    /** Holds nothing. */
    @Override
    public void close() {}
}
