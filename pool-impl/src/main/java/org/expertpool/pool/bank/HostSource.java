package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import org.expertpool.pool.marlin.ActivationType;

/** All expert rows of a model in host memory, and their global scale factors. Never written after loading. */
public interface HostSource {
    /** Projections of an expert: gate, up, down, in the order of the alpha table's columns. */
    int PROJECTIONS = 3;

    ExpertRowLayout layout();

    /** The type of the activations that scale codes and alphas are made for. */
    ActivationType activations();

    int layers();

    /** Experts per layer. */
    int experts();

    /**
     * One expert's row as a new read-only, little-endian view: position 0, limit {@code layout().rowBytes()}.
     *
     * @throws IndexOutOfBoundsException layer or expert out of range
     */
    ByteBuffer row(int layer, int expert);

    /**
     * The resident table f32 {@code [layers * experts, 3]} of alphas (gate, up, down) by key, as a read-only view: what
     * an fp32 accumulator over the Marlin form is multiplied by (marlin-nvfp4 2.6).
     */
    FloatBuffer alphas();
}
