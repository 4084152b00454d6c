package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.ALIGNED_32;
import static org.expertpool.pool.cuda.layout.MoeLayouts.DECODE;
import static org.expertpool.pool.cuda.layout.MoeLayouts.FASTEST_DECODE_TOKENS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MAX_DECODE_LANES;
import static org.expertpool.pool.cuda.layout.MoeLayouts.fastestAligned;

import org.expertpool.pool.cuda.layout.MoeBlock;

/**
 * A way through the MoE kernels; all give the same bits.
 *
 * @param decode whether one kernel does all, whose blocks find their lanes by themselves; else over aligned lanes
 * @param overLink whether the kernels over aligned lanes are those for rows in host memory
 * @param block shape of the blocks
 * @param blockLanes most lanes of a block
 * @param hostLanes decode: most lanes of a block whose row is on the host
 */
record MoeWay(boolean decode, boolean overLink, MoeBlock block, int blockLanes, int hostLanes) {
    /** The fastest way for so many tokens, as {@code pool/moe.h} has it. */
    static MoeWay of(int tokens, int lanes, boolean onHost) {
        if (isDecode(tokens, lanes)) {
            return new MoeWay(true, false, DECODE, 1, tokens); // an expert's lanes are of several tokens
        }
        return onHost ? new MoeWay(false, true, ALIGNED_32, ALIGNED_32.lanes(), 0) : aligned(tokens, false);
    }

    /** Whether calls so wide take the decode kernel, which may read missed rows on the host. */
    static boolean isDecode(int tokens, int lanes) {
        return tokens <= FASTEST_DECODE_TOKENS && lanes <= MAX_DECODE_LANES;
    }

    /** The fastest way over aligned lanes; as many lanes a block wherever the rows are, so that calls may be parts. */
    static MoeWay aligned(int tokens, boolean onHost) {
        MoeBlock block = fastestAligned(tokens);
        return new MoeWay(false, onHost, onHost ? ALIGNED_32 : block, block.lanes(), 0);
    }

    /** Name of the kernel over aligned lanes for a GEMM. */
    String alignedKernel(String gemm) {
        return overLink ? "smxx_moe_host_" + gemm : "smxx_moe_" + gemm + "_" + blockLanes;
    }

    /** Dynamic shared memory of a block, with rows on the host or without. */
    int sharedBytes(boolean anyOnHost) {
        return block.sharedBytes(!decode ? block.lanes() : anyOnHost ? Math.max(blockLanes, hostLanes) : blockLanes);
    }
}
