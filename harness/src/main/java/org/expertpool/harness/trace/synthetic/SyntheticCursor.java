package org.expertpool.harness.trace.synthetic;

import org.expertpool.harness.trace.ForwardCursor;

/** Draws forward after forward. Each layer has a random stream of its own; the text, which they share, has another. */
final class SyntheticCursor implements ForwardCursor {
    private final long forwards;
    private final int topK;
    private final TextCourse text;
    private final LayerRouter[] routers;
    private long forward = -1;

    SyntheticCursor(RoutingModel model, long forwards, long seed) {
        this.forwards = forwards;
        topK = model.shape().topK();
        text = new TextCourse(model, seed);
        routers = new LayerRouter[model.shape().layers()];
        for (int layer = 0; layer < routers.length; layer++) {
            routers[layer] = new LayerRouter(model, layer, seed);
        }
    }

    @Override
    public boolean next() {
        if (forward + 1 >= forwards) {
            return false;
        }
        forward++;
        text.advance();
        for (LayerRouter router : routers) {
            router.route(text);
        }
        return true;
    }

    @Override
    public long forward() {
        return forward;
    }

    @Override
    public boolean startsSequence() {
        return text.startsSequence();
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
        return text.position();
    }

    @Override
    public int ids(int layer, int[] ids) {
        routers[layer].copyIds(ids);
        return topK;
    }

    @Override
    public int weights(int layer, float[] weights) {
        routers[layer].copyWeights(weights);
        return topK;
    }
}
