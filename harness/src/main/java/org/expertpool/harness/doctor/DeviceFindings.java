package org.expertpool.harness.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.expertpool.pool.cuda.CudaDevice;
import org.expertpool.pool.cuda.CudaStatus;
import org.expertpool.pool.cuda.KernelBinary;

/** Device, driver, link and kernels. */
final class DeviceFindings {
    private static final double GIB = 1L << 30;

    private final CudaStatus cuda;
    private final KernelBinary kernels;
    private final Commands commands;

    DeviceFindings(CudaStatus cuda, KernelBinary kernels, Commands commands) {
        this.cuda = cuda;
        this.kernels = kernels;
        this.commands = commands;
    }

    List<Finding> all() {
        List<Finding> findings = new ArrayList<>();
        if (cuda instanceof CudaStatus.Available available) {
            for (CudaDevice device : available.devices()) {
                findings.add(Finding.ok("device " + device.index(), describe(device)));
            }
            String kind = available.driverKind().name().toLowerCase(Locale.ROOT);
            findings.add(Finding.ok(
                    "driver", "%s, CUDA %s, %s".formatted(kind, available.cudaVersion(), available.library())));
        } else if (cuda instanceof CudaStatus.Missing missing) {
            findings.add(Finding.missing(
                    "device",
                    missing.reason(),
                    "--backend model and java need none; for cuda use a machine with an NVIDIA GPU (compute 8.0 or newer)"
                            + " and its driver"));
        }
        findings.add(link());
        findings.add(kernelBinary());
        return findings;
    }

    private static String describe(CudaDevice device) {
        return String.format(
                Locale.ROOT,
                "%s, compute %d.%d, %d multiprocessors, %.1f GiB, %s",
                device.name(),
                device.computeMajor(),
                device.computeMinor(),
                device.multiprocessors(),
                device.memoryBytes() / GIB,
                device.pciBusId());
    }

    private Finding link() {
        String query = "pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max";
        Optional<String> answer = commands.output("nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader");
        if (answer.isEmpty()) {
            return Finding.missing(
                    "link",
                    "nvidia-smi gives no answer",
                    "comes with the NVIDIA driver; results then lack the link's generation");
        }
        return Finding.ok(
                "link", answer.get().lines().map(DeviceFindings::linkOf).collect(Collectors.joining("; ")));
    }

    /** A line such as {@code 5, 5, 16, 16}; the generation now is lower on an idle card. */
    private static String linkOf(String line) {
        String[] parts = line.split("\\s*,\\s*", -1);
        if (parts.length != 4) {
            return line.strip();
        }
        return "PCIe generation %s (at most %s), width %s (at most %s)"
                .formatted(parts[0].strip(), parts[1], parts[2], parts[3].strip());
    }

    private Finding kernelBinary() {
        if (kernels instanceof KernelBinary.Built built) {
            return Finding.ok(
                    "kernels",
                    "built with nvcc %s for %s, sha256 %s"
                            .formatted(built.nvccVersion(), String.join(" ", built.architectures()), built.sha256()));
        }
        String reason = kernels instanceof KernelBinary.Skipped skipped ? skipped.reason() : kernels.toString();
        return Finding.missing(
                "kernels",
                "not built: " + reason,
                "install the CUDA toolkit (nvcc 12.4 or newer) or set NVCC, and build again; only --backend cuda needs them");
    }
}
