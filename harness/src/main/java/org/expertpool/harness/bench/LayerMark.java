package org.expertpool.harness.bench;

import java.util.List;
import java.util.Optional;

/**
 * What a layer's time is held against on an H200, microseconds a layer, geometry qwen3.8-flash-next.
 *
 * @param misses -1: resident
 * @param peer the best peer's figure on the same card
 * @param floor bytes at the card's or the link's measured rate
 */
record LayerMark(int tokens, int misses, double peer, double floor) {
    private static final List<LayerMark> ALL = List.of(
            new LayerMark(1, -1, 38.5, 8.45),
            new LayerMark(8, -1, 106, 45),
            new LayerMark(64, -1, 416, 221),
            new LayerMark(512, -1, 656, 308),
            new LayerMark(1, 0, 43.4, 8.45),
            new LayerMark(1, 1, 106, 54),
            new LayerMark(1, 2, 163, 108),
            new LayerMark(1, 5, 334, 270),
            new LayerMark(1, 10, 611, 540));

    static Optional<LayerMark> of(LayerTime time) {
        return ALL.stream()
                .filter(mark -> mark.tokens == time.tokens() && mark.misses == time.misses())
                .filter(mark -> !time.engine().equals("uva"))
                .findFirst();
    }
}
