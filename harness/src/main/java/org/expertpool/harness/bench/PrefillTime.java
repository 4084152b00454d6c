package org.expertpool.harness.bench;

/**
 * Time of a layer of a prefill chunk on the partition path.
 *
 * @param layer engine, tokens and time
 * @param routing of the chunks' tokens
 * @param residents resident experts of each layer
 * @param missingRows touched experts of a layer that are not resident, on average
 * @param rowBytes bytes of an expert row
 */
record PrefillTime(LayerTime layer, String routing, int residents, double missingRows, long rowBytes) {
    /** What the copy engine reached over this link in large copies. */
    private static final double LINK_GB_PER_SECOND = 55.2;

    private static final String PEERS_ROUTING = "uniform";

    double milliseconds() {
        return layer.medianMicros() * 1e-3;
    }

    /** Missing rows once over the link at its measured rate. */
    double floorMilliseconds() {
        return missingRows * rowBytes / LINK_GB_PER_SECOND * 1e-6;
    }

    /** Each missing row counted once. */
    double gigabytesPerSecond() {
        return missingRows * rowBytes / milliseconds() * 1e-6;
    }

    /** Best peer of the same chunk and residents on an H200, milliseconds a layer; 0 where none was measured. */
    double peerMilliseconds() {
        if (layer.tokens() != 512 || !routing.equals(PEERS_ROUTING)) {
            return 0;
        }
        return residents == 0 ? 26.4 : residents == 236 ? 16.35 : 0;
    }
}
