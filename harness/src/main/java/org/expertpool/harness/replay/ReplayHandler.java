package org.expertpool.harness.replay;

import java.io.IOException;
import java.util.Map;

/** Receives the lines of a replay file in order. */
interface ReplayHandler {
    /** One layer call; the arrays are overwritten by the next line. */
    void step(int layer, int[] ids, float[] weights, int lanes) throws IOException;

    /** Changes of controls by name, all of them valid. */
    void control(Map<String, Integer> changes);

    void clearError();
}
