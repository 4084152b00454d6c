package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_EXPERTS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TILE_CHANNELS;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.marlin.ActivationType;

/**
 * What the MoE kernels need to know of a layer; the limits are those of {@code refusedMoe} in {@code pool/moe.h}.
 *
 * @param experts routed experts of a layer
 * @param topK lanes a token
 * @param row shape of an expert's row
 * @param activations their type, which the rows are made for
 */
public record MoeShape(int experts, int topK, ExpertRowLayout row, ActivationType activations) {
    /** Most tokens of one call. */
    public static final int MAX_TOKENS = 8192;

    private static final int MAX_CHANNELS = 65536;

    public MoeShape {
        require("hidden", row.hidden(), TILE_CHANNELS, MAX_CHANNELS);
        require("width", row.expertWidth(), TILE_CHANNELS, MAX_CHANNELS);
        require("experts", experts, 1, MAX_EXPERTS);
        require("topK", topK, 1, experts);
    }

    /** End of the names of kernels that depend on the type of activations. */
    String kernelSuffix() {
        return activations == ActivationType.FP16 ? "_fp16" : "";
    }

    int lanes(int tokens) {
        require("tokens", tokens, 1, MAX_TOKENS);
        return tokens * topK;
    }

    private static void require(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw new BadInputException(
                    field + " is " + value + ", expected " + least + " to " + most + " with backend cuda");
        }
    }
}
