package org.expertpool.harness.exact;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutputHashesTest {
    /** Digests of the hashes as little-endian bytes, as Python's hashlib and struct make them. */
    @Test
    void digestsARunAndItsBeginnings() {
        OutputHashes hashes = new OutputHashes();
        hashes.add(1, true);
        hashes.add(-2, false);
        hashes.add(0x0123456789abcdefL, true);
        assertThat(hashes.sha256Through(1))
                .isEqualTo("7c9fa136d4413fa6173637e883b6998d32e1d675f88cddff9dcbcf331820f4b8");
        assertThat(hashes.sha256Through(2))
                .isEqualTo("ee4e78c06b6be32c9457d0c62efd8f48fd4c0d3ecf261dbaf034340cdcb65ef0")
                .isEqualTo(hashes.sha256());
    }

    @Test
    void aShorterRunHasTheDigestOfTheLongerOnesBeginning() {
        OutputHashes longer = new OutputHashes();
        OutputHashes shorter = new OutputHashes();
        for (int forward = 0; forward < 9; forward++) {
            longer.add(forward * 7L, forward % 3 != 0);
            if (forward < 6) {
                shorter.add(forward * 7L, forward % 3 != 0);
            }
        }
        assertThat(longer.sha256Through(4)).isEqualTo(shorter.sha256());
        assertThat(longer.sha256Through(5)).isNotEqualTo(shorter.sha256());
    }
}
