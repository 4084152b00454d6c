package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import org.expertpool.pool.BadInputException;

/**
 * One part of a layer's expert rows in a tensor of its own: expert e's bytes are whole, and begin
 * {@code e * strideBytes} after the buffer's position. What lies between them belongs to nobody.
 *
 * @param bytes the tensor's memory, from position to limit; not written
 * @param strideBytes from one expert to the next; 0 where all share one copy
 */
public record StridedPart(ByteBuffer bytes, long strideBytes) {
    public StridedPart {
        if (strideBytes < 0 || strideBytes > Integer.MAX_VALUE) {
            throw new BadInputException("strideBytes is " + strideBytes + ", expected 0 to " + Integer.MAX_VALUE);
        }
        bytes = bytes.slice().asReadOnlyBuffer();
    }

    /** The bytes of one expert's part. */
    ByteBuffer of(int expert, int partBytes) {
        return bytes.slice((int) (expert * strideBytes), partBytes);
    }

    void requireExperts(String name, int experts, long partBytes) {
        long needed = (experts - 1) * strideBytes + partBytes;
        if (bytes.capacity() < needed) {
            throw new BadInputException(name + " has " + bytes.capacity() + " bytes, expected at least " + needed
                    + " for " + experts + " experts of " + partBytes + " bytes at a stride of " + strideBytes);
        }
    }
}
