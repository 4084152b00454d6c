package org.expertpool.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Properties;
import org.expertpool.pool.cuda.layout.KernelLayouts;
import org.junit.jupiter.api.Test;

class KernelBinaryTest {
    @Test
    void saysWhyKernelsAreAbsent() {
        Properties skipped = new Properties();
        skipped.setProperty("status", "skipped");
        skipped.setProperty("reason", "nvcc not found");
        assertThat(KernelBinary.describe(skipped)).isEqualTo(new KernelBinary.Skipped("nvcc not found"));
        assertThat(KernelBinary.describe(new Properties()))
                .isEqualTo(new KernelBinary.Skipped("pool.properties has no status=built"));
    }

    @Test
    void describesTheBinaryInTheJar() throws Exception {
        KernelBinary kernels = KernelBinary.describe();
        assumeTrue(kernels instanceof KernelBinary.Built, "kernels were not built: " + kernels);
        KernelBinary.Built built = (KernelBinary.Built) kernels;
        assertThat(built.layoutVersion()).isEqualTo(KernelLayouts.VERSION);
        assertThat(built.architectures()).contains("compute_80");
        assertThat(built.sourcesSha256()).matches("[0-9a-f]{64}").isNotEqualTo(built.sha256());
        try (InputStream binary = KernelBinary.class.getResourceAsStream(KernelBinary.FOLDER + "pool.fatbin")) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            assertThat(built.sha256()).isEqualTo(HexFormat.of().formatHex(digest.digest(binary.readAllBytes())));
        }
    }
}
