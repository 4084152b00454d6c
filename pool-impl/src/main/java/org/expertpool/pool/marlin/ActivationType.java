package org.expertpool.pool.marlin;

import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Bf16;
import org.expertpool.pool.format.Fp16;

/**
 * The 16-bit type of the activations, inner values and outputs, which also decides how weights and scales expand
 * (marlin-nvfp4 2.2, 2.4, 2.6). Rounding to it is to nearest, ties to even, overflow to infinity; every NaN is 0x7FFF.
 */
public enum ActivationType {
    /** Weights expand to 2^-126, scales to 2^7 times their value. */
    BF16(-126, true) {
        @Override
        public short fromFloat(float value) {
            return Bf16.fromFloat(value);
        }

        @Override
        public float toFloat(short bits) {
            return Bf16.toFloat(bits);
        }

        /** Not its value where the top bit of the code is missing. */
        @Override
        public float expandScale(byte code) {
            return Bf16.toFloat((short) (((code & 0x80) << 7) | ((code & 0x7F) << 4)));
        }
    },

    /** Weights expand to 2^-14, scales to 2^7 times their value; scales are never rescaled. */
    FP16(-14, false) {
        @Override
        public short fromFloat(float value) {
            return Fp16.fromFloat(value);
        }

        @Override
        public float toFloat(short bits) {
            return Fp16.toFloat(bits);
        }

        @Override
        public float expandScale(byte code) {
            return Fp16.toFloat((short) ((code & 0xFF) << 7));
        }
    };

    private static final int LOG2_SCALE_UNIT = 7;

    private final int log2CodeUnit;
    private final boolean rescalesBlockScales;

    ActivationType(int log2CodeUnit, boolean rescalesBlockScales) {
        this.log2CodeUnit = log2CodeUnit;
        this.rescalesBlockScales = rescalesBlockScales;
    }

    boolean rescalesBlockScales() {
        return rescalesBlockScales;
    }

    /** Its name in definitions and results: {@code bf16} or {@code fp16}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The type of that name.
     *
     * @param field named in the refusal
     */
    public static ActivationType of(String field, String label) {
        for (ActivationType type : values()) {
            if (type.label().equals(label)) {
                return type;
            }
        }
        throw new BadInputException(field + " is " + label + ", expected bf16 or fp16");
    }

    public abstract short fromFloat(float value);

    public abstract float toFloat(short bits);

    /** The value after rounding to this type. */
    public float round(float value) {
        return toFloat(fromFloat(value));
    }

    /** What the kernel's shifts make of a scale code: 2^7 times its value. */
    public abstract float expandScale(byte code);

    /** What an expanded E2M1 code is its value's multiple of. */
    public float codeUnit() {
        return Math.scalb(1f, log2CodeUnit);
    }

    /** The factor between true weights and expanded ones, before global scale and scale factor: 2^119 or 2^7. */
    public double expansion() {
        return Math.scalb(1.0, log2Alpha());
    }

    private int log2Alpha() {
        return -log2CodeUnit - LOG2_SCALE_UNIT;
    }

    /**
     * What turns an fp32 accumulator into the true sum: {@code globalScale * 2^119 / sf} for bf16, {@code * 2^7} for
     * fp16.
     *
     * @throws BadInputException the product leaves the range of normal fp32 numbers
     */
    public float alpha(float globalScale, int log2Factor) {
        float alpha = Math.scalb(globalScale, log2Alpha() - log2Factor);
        if (globalScale != 0 && !(alpha >= Float.MIN_NORMAL && alpha <= Float.MAX_VALUE)) {
            throw new BadInputException("Marlin scales: alpha of global scale " + globalScale + " and scale factor 2^"
                    + log2Factor + " is " + alpha + ", expected a normal positive fp32 number");
        }
        return alpha;
    }
}
