package org.expertpool.harness.trace;

/** The order of events: by sequence, then token, then layer. */
final class EventOrder {
    private EventOrder() {}

    static int compare(long sequence, long token, long layer, long otherSequence, long otherToken, long otherLayer) {
        if (sequence != otherSequence) {
            return Long.compare(sequence, otherSequence);
        }
        return token != otherToken ? Long.compare(token, otherToken) : Long.compare(layer, otherLayer);
    }
}
