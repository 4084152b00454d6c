package org.expertpool.pool.cuda.engine;

/**
 * What an engine that plans on the host has moved so far, in rows.
 *
 * @param promoted copied in for a call, to stay
 * @param staged copied in for a call alone, or read in place by its kernels
 * @param exchanged copied in between forwards
 */
public record HostPlans(long promoted, long staged, long exchanged) {
    public static final HostPlans NONE = new HostPlans(0, 0, 0);

    public HostPlans plus(HostPlans more) {
        return new HostPlans(promoted + more.promoted, staged + more.staged, exchanged + more.exchanged);
    }

    public HostPlans minus(HostPlans before) {
        return new HostPlans(promoted - before.promoted, staged - before.staged, exchanged - before.exchanged);
    }
}
