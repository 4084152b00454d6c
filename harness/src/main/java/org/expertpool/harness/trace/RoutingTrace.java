package org.expertpool.harness.trace;

/** An ordered record of routing: for each forward, layer and token, the experts that the router chose. */
public interface RoutingTrace extends AutoCloseable {
    TraceShape shape();

    /** Number of forwards; each is one pass over all layers. */
    long forwards();

    /** Where the routing comes from, in words for a report: a file and its hash, or a generator and its seed. */
    String source();

    /** A new cursor that stands before the first forward. Cursors are independent of each other. */
    ForwardCursor cursor();

    @Override
    void close();
}
