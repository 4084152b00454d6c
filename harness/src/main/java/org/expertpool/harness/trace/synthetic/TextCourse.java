package org.expertpool.harness.trace.synthetic;

/** What all layers see of the text: where sequences begin and which kind of passage the current token belongs to. */
final class TextCourse {
    private static final long STREAM = -1;

    private final RoutingModel model;
    private final SplitMix64 random;
    private int position = -1;
    private int length;
    private int phase;
    private int phaseEnd;
    private boolean entersPhase;

    TextCourse(RoutingModel model, long seed) {
        this.model = model;
        random = new SplitMix64(seed, STREAM);
    }

    void advance() {
        position++;
        if (position == length) {
            position = 0;
            length = model.minSequenceTokens()
                    + random.nextBelow(model.maxSequenceTokens() - model.minSequenceTokens() + 1);
            enterPhase(random.nextBelow(model.phases()));
        } else if (position == phaseEnd && model.phases() > 1) {
            enterPhase((phase + 1) % model.phases());
        } else {
            entersPhase = false;
        }
    }

    private void enterPhase(int next) {
        phase = next;
        phaseEnd = position + (model.phaseTokens() + 1) / 2 + random.nextBelow(model.phaseTokens());
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
