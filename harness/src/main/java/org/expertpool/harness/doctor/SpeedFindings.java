package org.expertpool.harness.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStatus;
import org.expertpool.pool.cuda.KernelBinary;
import org.expertpool.pool.cuda.model.DeviceSpeed;

/** What link, memory and launches of the first device come to, measured for about a second. */
final class SpeedFindings {
    private static final double GIB = 1L << 30;

    private SpeedFindings() {}

    /** Nothing where there is no device or there are no kernels to measure with: others say so. */
    static List<Finding> measure(CudaStatus cuda, KernelBinary kernels) {
        if (!(cuda instanceof CudaStatus.Available) || !(kernels instanceof KernelBinary.Built)) {
            return List.of();
        }
        try (CudaContext context = CudaContext.open()) {
            long free = context.freeBytes();
            List<Finding> findings = new ArrayList<>(of(DeviceSpeed.measure(context, DeviceSpeed.Effort.USUAL)));
            findings.add(0, Finding.ok("device memory", format("%.1f GiB free", free / GIB)));
            return findings;
        } catch (CudaException | BadInputException failure) {
            return List.of(Finding.missing(
                    "speed",
                    failure.getMessage(),
                    "--backend cuda needs this to work: is the device free, the driver whole?"));
        }
    }

    static List<Finding> of(DeviceSpeed speed) {
        return List.of(
                Finding.ok(
                        "link speed",
                        format(
                                "%.1f GB/s to the device and %.1f GB/s back by the copy engine, %.1f GB/s read by a kernel",
                                speed.hostToDevice(), speed.deviceToHost(), speed.zeroCopy())),
                Finding.ok("memory speed", format("%.0f GB/s read by a kernel", speed.memoryRead())),
                Finding.ok(
                        "launch",
                        format(
                                "%.2f us of the host for an eager launch (p10 %.2f, p90 %.2f)",
                                speed.launchMicros(), speed.launchMicrosP10(), speed.launchMicrosP90())));
    }

    private static String format(String text, Object... values) {
        return String.format(Locale.ROOT, text, values);
    }
}
