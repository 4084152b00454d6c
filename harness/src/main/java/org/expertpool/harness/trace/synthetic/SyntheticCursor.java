package org.expertpool.harness.trace.synthetic;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.expertpool.harness.trace.ForwardCursor;

/**
 * Draws forwards a block at a time. Each layer has a random stream of its own, and the text, which they share, has another:
 * so layers are drawn side by side, and what comes out does not depend on how many at once.
 */
final class SyntheticCursor implements ForwardCursor {
    private static final int BLOCK_FORWARDS = 256;

    private final long forwards;
    private final int topK;
    private final TextCourse text;
    private final LayerRouter[] routers;
    private final TextCourse.Token[] tokens = new TextCourse.Token[BLOCK_FORWARDS];
    private final int[][] ids; // [L][BLOCK_FORWARDS * topK]
    private final float[][] weights; // [L][BLOCK_FORWARDS * topK]
    private long forward = -1;

    SyntheticCursor(RoutingModel model, long forwards, long seed) {
        this.forwards = forwards;
        topK = model.shape().topK();
        text = new TextCourse(model, seed);
        int layers = model.shape().layers();
        routers = new LayerRouter[layers];
        Arrays.setAll(routers, layer -> new LayerRouter(model, layer, seed));
        ids = new int[layers][BLOCK_FORWARDS * topK];
        weights = new float[layers][BLOCK_FORWARDS * topK];
    }

    @Override
    public boolean next() {
        if (forward + 1 >= forwards) {
            return false;
        }
        forward++;
        if (inBlock() == 0) {
            draw((int) Math.min(BLOCK_FORWARDS, forwards - forward));
        }
        return true;
    }

    private int inBlock() {
        return (int) (forward % BLOCK_FORWARDS);
    }

    private void draw(int count) {
        for (int i = 0; i < count; i++) {
            tokens[i] = text.next();
        }
        IntStream.range(0, routers.length).parallel().forEach(layer -> {
            for (int i = 0; i < count; i++) {
                routers[layer].route(tokens[i], ids[layer], weights[layer], i * topK);
            }
        });
    }

    private TextCourse.Token token() {
        return tokens[inBlock()];
    }

    @Override
    public long forward() {
        return forward;
    }

    @Override
    public boolean startsSequence() {
        return token().startsSequence();
    }

    @Override
    public boolean isPrefill() {
        return false;
    }

    @Override
    public int tokens() {
        return 1;
    }

    @Override
    public int position() {
        return token().position();
    }

    @Override
    public int ids(int layer, int[] target) {
        System.arraycopy(ids[layer], inBlock() * topK, target, 0, topK);
        return topK;
    }

    @Override
    public int weights(int layer, float[] target) {
        System.arraycopy(weights[layer], inBlock() * topK, target, 0, topK);
        return topK;
    }
}
