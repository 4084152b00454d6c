package org.expertpool.harness.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.expertpool.pool.cuda.CudaDevice;
import org.expertpool.pool.cuda.CudaStatus;
import org.expertpool.pool.cuda.KernelBinary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceFindingsTest {
    private static final KernelBinary BUILT =
            new KernelBinary.Built("13.0.88", "-O3", List.of("compute_80", "sm_90"), 1, "abc", "def");
    private static final CudaStatus STUB = new CudaStatus.Available(
            CudaStatus.DriverKind.STUB,
            Path.of("/x/libcuda.so.1"),
            "13.0",
            List.of(new CudaDevice(0, "card", 9, 0, 132, 227 << 10, 3L << 29, "0000:01:00.0")));

    @TempDir
    Path folder;

    @Test
    void showsDeviceDriverLinkAndKernels() throws IOException {
        Path tool = Files.writeString(folder.resolve("nvidia-smi"), "#!/bin/sh\necho '4, 5, 8, 16'\n");
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(new DeviceFindings(STUB, BUILT, new Commands(folder.toString())).all())
                .containsExactly(
                        Finding.ok("device 0", "card, compute 9.0, 132 multiprocessors, 1.5 GiB, 0000:01:00.0"),
                        Finding.ok("driver", "stub, CUDA 13.0, /x/libcuda.so.1"),
                        Finding.ok("link", "PCIe generation 4 (at most 5), width 8 (at most 16)"),
                        Finding.ok("kernels", "built with nvcc 13.0.88 for compute_80 sm_90, sha256 abc"));
    }

    @Test
    void givesAdviceForEachMissingPart() {
        List<Finding> findings = new DeviceFindings(
                        new CudaStatus.Missing("no driver"),
                        new KernelBinary.Skipped("nvcc not found"),
                        new Commands(folder.toString()))
                .all();
        assertThat(findings).extracting(Finding::name).containsExactly("device", "link", "kernels");
        assertThat(findings).allSatisfy(finding -> {
            assertThat(finding.state()).isEqualTo(Finding.State.MISSING);
            assertThat(finding.advice()).isNotBlank();
        });
        assertThat(findings.get(0).value()).isEqualTo("no driver");
        assertThat(findings.get(2).value()).isEqualTo("not built: nvcc not found");
    }

    @Test
    void takesAFailingToolForAnAbsentOne() throws IOException {
        Path tool = Files.writeString(folder.resolve("nvidia-smi"), "#!/bin/sh\necho 'no devices'\nexit 9\n");
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(new Commands(folder.toString()).output("nvidia-smi")).isEmpty();
    }
}
