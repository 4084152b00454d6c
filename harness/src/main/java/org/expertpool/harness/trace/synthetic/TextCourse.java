package org.expertpool.harness.trace.synthetic;

/** What all layers see of the text: where sequences begin and which kind of passage a token belongs to. */
final class TextCourse {
    /** What layers see of one token of the text. */
    record Token(int position, int phase, boolean entersPhase) {
        boolean startsSequence() {
            return position == 0;
        }
    }

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

    Token next() {
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
        return new Token(position, phase, entersPhase);
    }

    private void enterPhase(int next) {
        phase = next;
        phaseEnd = position + (model.phaseTokens() + 1) / 2 + random.nextBelow(model.phaseTokens());
        entersPhase = true;
    }
}
