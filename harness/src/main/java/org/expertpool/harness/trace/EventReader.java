package org.expertpool.harness.trace;

import java.io.IOException;

/** Reads the events of a text form in file order, from the start at each call. */
interface EventReader {
    /** Takes events; the object is the reader's and changes after the call. */
    interface Sink {
        void event(RouteEvent event);
    }

    void read(Sink sink) throws IOException;
}
