package org.expertpool.harness.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.expertpool.pool.cuda.CudaStatus;
import org.expertpool.pool.cuda.KernelBinary;
import org.expertpool.pool.cuda.model.DeviceSpeed;
import org.junit.jupiter.api.Test;

class SpeedFindingsTest {
    @Test
    void namesEachSpeedWithItsUnit() {
        assertThat(SpeedFindings.of(new DeviceSpeed(55.31, 54.2, 51.16, 4490.4, 1.734, 1.7, 1.9)))
                .containsExactly(
                        Finding.ok(
                                "link speed",
                                "55.3 GB/s to the device and 54.2 GB/s back by the copy engine, 51.2 GB/s read by a kernel"),
                        Finding.ok("memory speed", "4490 GB/s read by a kernel"),
                        Finding.ok("launch", "1.73 us of the host for an eager launch (p10 1.70, p90 1.90)"));
    }

    @Test
    void measuresNothingWithoutDeviceOrKernels() {
        KernelBinary built = new KernelBinary.Built("13.0.88", "-O3", List.of("compute_80"), 1, "abc", "def");
        CudaStatus there =
                new CudaStatus.Available(CudaStatus.DriverKind.STUB, Path.of("/x/libcuda.so.1"), "13.0", List.of());
        assertThat(SpeedFindings.measure(new CudaStatus.Missing("no driver"), built))
                .isEmpty();
        assertThat(SpeedFindings.measure(there, new KernelBinary.Skipped("nvcc not found")))
                .isEmpty();
    }
}
