package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.DECODE_DOWN;
import static org.expertpool.pool.cuda.layout.MoeLayouts.DECODE_GATE_UP;
import static org.expertpool.pool.cuda.layout.MoeLayouts.FASTEST_DECODE_TOKENS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MAX_DECODE_LANES;
import static org.expertpool.pool.cuda.layout.MoeLayouts.fastestAligned;

import org.expertpool.pool.cuda.layout.MoeBlock;

/**
 * A way through the MoE kernels; all give the same bits.
 *
 * @param decode whether blocks find their lanes by themselves, and the last one adds up; else over aligned lanes
 * @param gateUp shape of the blocks of the first GEMM
 * @param down shape of the blocks of the second
 * @param blockLanes most lanes of a block
 */
record MoeWay(boolean decode, MoeBlock gateUp, MoeBlock down, int blockLanes) {
    /** The fastest way for so many tokens, as {@code pool/moe.h} has it. */
    static MoeWay of(int tokens, int lanes) {
        if (tokens > FASTEST_DECODE_TOKENS || lanes > MAX_DECODE_LANES) {
            return aligned(tokens);
        }
        return new MoeWay(true, DECODE_GATE_UP, DECODE_DOWN, 1);
    }

    /** The fastest way over aligned lanes. */
    static MoeWay aligned(int tokens) {
        MoeBlock block = fastestAligned(tokens);
        return new MoeWay(false, block, block, block.lanes());
    }
}
