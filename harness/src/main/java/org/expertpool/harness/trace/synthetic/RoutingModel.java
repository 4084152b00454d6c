package org.expertpool.harness.trace.synthetic;

import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;

/**
 * How routing behaves. Each layer's router scores every expert for every token, and the {@code topK} best are chosen:
 *
 * <pre>score = popularity + topic + phase + drift + reuse + token noise</pre>
 *
 * All spreads are standard deviations over experts, in units of the token noise (1). Layers are independent but for the
 * sequence and phase boundaries, which they share.
 *
 * @param name preset name
 * @param shape layers, experts, top-k
 * @param popularitySpread how unequal experts are over all text; fixed per expert, close to a gamma law in selections
 * @param topicSpread how much a sequence's subject decides which experts it calls for at all; drawn anew per sequence
 * @param offTopicShare share of experts that a subject does not call for, in (0, 1)
 * @param phases different kinds of passage that take turns within a sequence, at least 1
 * @param phaseSpread how much a kind of passage prefers certain experts
 * @param phaseTokens mean length of a passage in tokens, at least 1; lengths are uniform within half of that of it
 * @param driftSpread how much the subject wanders within a sequence
 * @param driftTokens tokens over which the wandering loses memory (correlation 1/e)
 * @param reuseSpread how strongly neighbouring tokens want the same experts
 * @param reuseTokens tokens over which that loses memory
 * @param weightSharpness router weights are the softmax of the chosen scores times this
 * @param minSequenceTokens shortest sequence
 * @param maxSequenceTokens longest sequence; lengths are uniform between the two
 * @param memory false gives the i.i.d. control: all parts but popularity are redrawn for each token, which keeps the
 *     long-run popularity and removes reuse
 */
public record RoutingModel(
        String name,
        TraceShape shape,
        Ramp popularitySpread,
        Ramp topicSpread,
        double offTopicShare,
        int phases,
        Ramp phaseSpread,
        int phaseTokens,
        Ramp driftSpread,
        double driftTokens,
        Ramp reuseSpread,
        double reuseTokens,
        double weightSharpness,
        int minSequenceTokens,
        int maxSequenceTokens,
        boolean memory) {
    public RoutingModel {
        require(name, "offTopicShare", offTopicShare, offTopicShare > 0 && offTopicShare < 1);
        require(name, "phases", phases, phases >= 1);
        require(name, "phaseTokens", phaseTokens, phaseTokens >= 1);
        require(name, "driftTokens", driftTokens, driftTokens > 0);
        require(name, "reuseTokens", reuseTokens, reuseTokens > 0);
        require(name, "weightSharpness", weightSharpness, weightSharpness >= 0);
        require(name, "minSequenceTokens", minSequenceTokens, minSequenceTokens >= 1);
        require(name, "maxSequenceTokens", maxSequenceTokens, maxSequenceTokens >= minSequenceTokens);
    }

    /** The control with the same popularity and no memory. */
    RoutingModel withoutMemory(String controlName) {
        return new RoutingModel(
                controlName,
                shape,
                popularitySpread,
                topicSpread,
                offTopicShare,
                phases,
                phaseSpread,
                phaseTokens,
                driftSpread,
                driftTokens,
                reuseSpread,
                reuseTokens,
                weightSharpness,
                minSequenceTokens,
                maxSequenceTokens,
                false);
    }

    private static void require(String name, String field, double value, boolean good) {
        if (!good) {
            throw new BadInputException(
                    "routing model " + name + ": " + field + " is " + value + ", which is out of range");
        }
    }
}
