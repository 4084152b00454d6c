package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.MoeLayouts.ALIGNED_32;
import static org.expertpool.pool.cuda.layout.MoeLayouts.DECODE;
import static org.expertpool.pool.cuda.layout.MoeLayouts.FASTEST_DECODE_TOKENS;
import static org.expertpool.pool.cuda.layout.MoeLayouts.MAX_DECODE_LANES;
import static org.expertpool.pool.cuda.layout.MoeLayouts.TOKEN;
import static org.expertpool.pool.cuda.layout.MoeLayouts.fastestAligned;

import org.expertpool.pool.cuda.layout.MoeBlock;

/**
 * A way through the MoE kernels; all give the same bits.
 *
 * @param block shape of the blocks
 * @param blockLanes most lanes of a block
 * @param hostLanes most lanes of a block whose row is on the host; 0 over aligned lanes
 */
record MoeWay(Kernels kernels, MoeBlock block, int blockLanes, int hostLanes) {
    /** The only way for one token where the device has room for its blocks. */
    static final MoeWay ONE_TOKEN = new MoeWay(Kernels.TOKEN, TOKEN, 1, 1);

    enum Kernels {
        /** One kernel does all for one token, by blocks that run at the same time. */
        TOKEN,
        /** One kernel does all, whose blocks find their lanes by themselves. */
        DECODE,
        /** Several kernels, over aligned lanes. */
        ALIGNED,
        /** The same for rows in host memory. */
        OVER_LINK
    }

    /** The fastest way for so many tokens, as {@code pool/moe.h} has it. */
    static MoeWay of(int tokens, int lanes, boolean onHost) {
        if (isDecode(tokens, lanes)) {
            return new MoeWay(Kernels.DECODE, DECODE, 1, tokens); // an expert's lanes are of several tokens
        }
        return onHost ? new MoeWay(Kernels.OVER_LINK, ALIGNED_32, ALIGNED_32.lanes(), 0) : aligned(tokens, false);
    }

    /** Whether calls so wide take one kernel for all, which may read missed rows on the host. */
    static boolean isDecode(int tokens, int lanes) {
        return tokens <= FASTEST_DECODE_TOKENS && lanes <= MAX_DECODE_LANES;
    }

    /** The fastest way over aligned lanes; as many lanes a block wherever the rows are, so that calls may be parts. */
    static MoeWay aligned(int tokens, boolean onHost) {
        MoeBlock block = fastestAligned(tokens);
        return onHost
                ? new MoeWay(Kernels.OVER_LINK, ALIGNED_32, block.lanes(), 0)
                : new MoeWay(Kernels.ALIGNED, block, block.lanes(), 0);
    }

    /** Whether one kernel does all. */
    boolean decode() {
        return kernels == Kernels.TOKEN || kernels == Kernels.DECODE;
    }

    /** Name of the kernel over aligned lanes for both GEMMs. */
    String alignedKernel() {
        return kernels == Kernels.OVER_LINK ? "smxx_moe_host_gemms" : "smxx_moe_gemms_" + blockLanes;
    }

    /** Dynamic shared memory of a block of the kernels but that for one token, with rows on the host or without. */
    int sharedBytes(boolean anyOnHost) {
        return block.sharedBytes(!decode() ? block.lanes() : anyOnHost ? Math.max(blockLanes, hostLanes) : blockLanes);
    }
}
