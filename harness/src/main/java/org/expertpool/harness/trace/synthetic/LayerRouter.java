package org.expertpool.harness.trace.synthetic;

/** One layer's router: holds the parts of every expert's score and chooses the experts of one token at a time. */
final class LayerRouter {
    private final int topK;
    private final SplitMix64 random;
    private final float topicSpread;
    private final double offTopicShare;
    private final float phaseSpread;
    private final Wander drift;
    private final Wander reuse;
    private final float noiseSpread;
    private final float[] popularity;
    private final float[] topic;
    private final float[][] phaseParts;
    private final float[] standing;
    private final float weightSharpness;

    private final int[] ids;
    private final float[] weights;
    private final float[] scores;

    LayerRouter(RoutingModel model, int layer, long seed) {
        int experts = model.shape().experts();
        topK = model.shape().topK();
        random = new SplitMix64(seed, layer);
        float memory = model.memory() ? 1 : 0;
        topicSpread = memory * (float) model.topicSpread().at(layer);
        offTopicShare = model.offTopicShare();
        phaseSpread = memory * (float) model.phaseSpread().at(layer);
        drift = new Wander(experts, memory * model.driftSpread().at(layer), model.driftTokens());
        reuse = new Wander(experts, memory * model.reuseSpread().at(layer), model.reuseTokens());
        noiseSpread = model.memory() ? 1 : (float) wholeSpread(model, layer);
        popularity = popularity(experts, model.popularitySpread().at(layer), random);
        topic = new float[experts];
        phaseParts = new float[model.phases()][experts];
        standing = new float[experts];
        weightSharpness = (float) model.weightSharpness();
        ids = new int[topK];
        weights = new float[topK];
        scores = new float[topK];
    }

    /** Routes a token: the chosen experts, highest score first, and their weights, which sum to 1, from {@code at} on. */
    void route(TextCourse.Token token, int[] intoIds, float[] intoWeights, int at) {
        if (token.startsSequence()) {
            startSequence();
        }
        if (token.entersPhase()) {
            enterPhase(token.phase());
        }
        choose();
        weigh();
        System.arraycopy(ids, 0, intoIds, at, topK);
        System.arraycopy(weights, 0, intoWeights, at, topK);
    }

    /** Draws everything that belongs to a sequence anew. */
    private void startSequence() {
        for (int expert = 0; expert < topic.length; expert++) {
            topic[expert] = topicSpread * random.nextTwoPoint(offTopicShare);
            for (float[] part : phaseParts) {
                part[expert] = phaseSpread * random.nextBell();
            }
        }
        drift.restart(random);
        reuse.restart(random);
    }

    private void enterPhase(int phase) {
        for (int expert = 0; expert < standing.length; expert++) {
            standing[expert] = popularity[expert] + topic[expert] + phaseParts[phase][expert];
        }
    }

    private void choose() {
        int chosen = 0;
        for (int expert = 0; expert < standing.length; expert++) {
            float score = standing[expert]
                    + drift.step(expert, random)
                    + reuse.step(expert, random)
                    + noiseSpread * random.nextBell();
            if (chosen < topK) {
                insert(expert, score, chosen++);
            } else if (score > scores[topK - 1]) {
                insert(expert, score, topK - 1);
            }
        }
    }

    /** Puts an expert into its place among the slots before and at {@code from}, which is free or holds the lowest score. */
    private void insert(int expert, float score, int from) {
        int slot = from;
        while (slot > 0 && scores[slot - 1] < score) {
            scores[slot] = scores[slot - 1];
            ids[slot] = ids[slot - 1];
            slot--;
        }
        scores[slot] = score;
        ids[slot] = expert;
    }

    private void weigh() {
        double sum = 0;
        for (int slot = 0; slot < topK; slot++) {
            weights[slot] = (float) StrictMath.exp(weightSharpness * (scores[slot] - scores[0]));
            sum += weights[slot];
        }
        for (int slot = 0; slot < topK; slot++) {
            weights[slot] = (float) (weights[slot] / sum);
        }
    }

    /**
     * Quantiles of the log-Weibull law in random order: popularity itself is then close to gamma-distributed, with many
     * rarely wanted experts and no excess of favourites. Every seed has the same spread; other experts are the popular ones.
     */
    private static float[] popularity(int experts, double spread, SplitMix64 random) {
        float[] values = new float[experts];
        for (int rank = 0; rank < experts; rank++) {
            values[rank] = (float) (spread * SplitMix64.logWeibull((rank + 0.5) / experts));
        }
        for (int last = experts - 1; last > 0; last--) {
            int other = random.nextBelow(last + 1);
            float moved = values[last];
            values[last] = values[other];
            values[other] = moved;
        }
        return values;
    }

    private static double wholeSpread(RoutingModel model, int layer) {
        double topic = model.topicSpread().at(layer);
        double phase = model.phaseSpread().at(layer);
        double drift = model.driftSpread().at(layer);
        double reuse = model.reuseSpread().at(layer);
        return StrictMath.sqrt(1 + topic * topic + phase * phase + drift * drift + reuse * reuse);
    }
}
