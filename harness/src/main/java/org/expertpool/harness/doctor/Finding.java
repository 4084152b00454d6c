package org.expertpool.harness.doctor;

/**
 * One thing that was looked at.
 *
 * @param name what it is, in lower case
 * @param value what was found, one line
 * @param advice how to get it or what follows from its absence; empty where nothing is to be done
 */
public record Finding(String name, State state, String value, String advice) {
    /** Missing things never stop the model backend; each names what it holds up. */
    public enum State {
        OK,
        MISSING
    }

    public Finding {
        if (state == State.MISSING && advice.isBlank()) {
            throw new IllegalArgumentException("finding " + name + ": a missing thing needs advice");
        }
    }

    static Finding ok(String name, String value) {
        return new Finding(name, State.OK, value, "");
    }

    static Finding missing(String name, String value, String advice) {
        return new Finding(name, State.MISSING, value, advice);
    }
}
