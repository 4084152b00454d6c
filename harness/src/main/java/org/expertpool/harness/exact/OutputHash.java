package org.expertpool.harness.exact;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 over the bits of outputs, little-endian, in the order in which they are added. */
final class OutputHash {
    private final MessageDigest digest;

    OutputHash() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    void add(short[] bits) {
        ByteBuffer bytes = ByteBuffer.allocate(bits.length * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asShortBuffer().put(bits);
        digest.update(bytes);
    }

    /** The hash in lower-case hex; the object is spent. */
    String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
