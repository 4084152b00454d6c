package org.expertpool.harness.trace.synthetic;

/** What all layers see of the text: where sequences begin and which kind of passage the current token belongs to. */
final class TextCourse {
    private static final long STREAM = -1;

    private final RoutingModel model;
    private final SplitMix64 random;
    private int position = -1;
    private int length;
    private int phase;
    private boolean entersPhase;

    TextCourse(RoutingModel model, long seed) {
        this.model = model;
        random = new SplitMix64(seed, STREAM);
    }

    void advance() {
        position++;
        if (position == length) {
            startSequence();
        } else {
            entersPhase = model.phases() > 1 && random.nextUnit() * model.phaseTokens() < 1;
            if (entersPhase) {
                phase = (phase + 1 + random.nextBelow(model.phases() - 1)) % model.phases();
            }
        }
    }

    private void startSequence() {
        position = 0;
        length =
                model.minSequenceTokens() + random.nextBelow(model.maxSequenceTokens() - model.minSequenceTokens() + 1);
        phase = random.nextBelow(model.phases());
        entersPhase = true;
    }

    boolean startsSequence() {
        return position == 0;
    }

    int position() {
        return position;
    }

    int phase() {
        return phase;
    }

    boolean entersPhase() {
        return entersPhase;
    }
}
