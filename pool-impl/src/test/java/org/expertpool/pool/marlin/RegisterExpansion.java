package org.expertpool.pool.marlin;

import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.format.Fp16;

/** The kernel's bit tricks on 32-bit registers (marlin-nvfp4 2.2 and 2.4), written from the specification. */
final class RegisterExpansion {
    private RegisterExpansion() {}

    /** Codes in nibbles 3 and 7 as a pair of bf16, each value times 2^-126. */
    static int codesToBf16(int word) {
        return (word & 0x80008000) | ((word & 0x70007000) >>> 6);
    }

    /** Codes in nibbles 3 and 7 as a pair of fp16, each value times 2^-14. */
    static int codesToFp16(int word) {
        return (word & 0x80008000) | ((word & 0x70007000) >>> 3);
    }

    /** Scale codes in the even or odd bytes as a pair of bf16, each value times 128. */
    static int scalesToBf16(int word, boolean even) {
        int odd = even ? word << 8 : word;
        return ((odd & 0x80008000) >>> 1) | ((odd & 0x7F007F00) >>> 4);
    }

    /** Scale codes in the even or odd bytes as a pair of fp16, each value times 128. */
    static int scalesToFp16(int word, boolean even) {
        int odd = even ? word << 8 : word;
        return (odd & 0xFF00FF00) >>> 1;
    }

    static float bf16Low(int pair) {
        return Bf16.toFloat((short) pair);
    }

    static float bf16High(int pair) {
        return Bf16.toFloat((short) (pair >>> 16));
    }

    static float fp16Low(int pair) {
        return Fp16.toFloat((short) pair);
    }

    static float fp16High(int pair) {
        return Fp16.toFloat((short) (pair >>> 16));
    }
}
