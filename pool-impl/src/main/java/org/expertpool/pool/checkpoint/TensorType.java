package org.expertpool.pool.checkpoint;

/** Element types of a safetensors file, by the names used there. */
public enum TensorType {
    F4(4),
    F6_E2M3(6),
    F6_E3M2(6),
    F8_E5M2(8),
    F8_E4M3(8),
    F8_E8M0(8),
    BOOL(8),
    U8(8),
    I8(8),
    I16(16),
    U16(16),
    F16(16),
    BF16(16),
    I32(32),
    U32(32),
    F32(32),
    I64(64),
    U64(64),
    F64(64),
    C64(64);

    private final int bits;

    TensorType(int bits) {
        this.bits = bits;
    }

    /** Bits of one element. */
    public int bits() {
        return bits;
    }
}
