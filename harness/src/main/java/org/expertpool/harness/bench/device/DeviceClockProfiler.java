package org.expertpool.harness.bench.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Clock and power of the first device in each iteration, sampled while it runs: says whether a figure was measured at full
 * clocks. For {@code -prof}; each iteration waits for nvidia-smi, so iterations of a second or more suit it.
 */
public final class DeviceClockProfiler implements InternalProfiler {
    private static final String COMMAND = "nvidia-smi";
    private static final List<String> SAMPLES =
            List.of("--id=0", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "--loop-ms=20");

    private final String command;
    private Process sampler;
    private BufferedReader lines;

    /** @param command in the place of nvidia-smi; empty for that */
    public DeviceClockProfiler(String command) {
        this.command = command.isEmpty() ? COMMAND : command;
    }

    @Override
    public String getDescription() {
        return "Clock and power of the device, by nvidia-smi";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(SAMPLES);
        try {
            sampler = new ProcessBuilder(line)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            lines = new BufferedReader(new InputStreamReader(sampler.getInputStream(), StandardCharsets.UTF_8));
            lines.readLine(); // from here on it samples; this one is of the idle device
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        sampler.toHandle().destroy(); // the process alone: its own destroy closes the samples too
        double megahertz = 0;
        double watts = 0;
        int samples = 0;
        try (BufferedReader sampled = lines) {
            for (String line = sampled.readLine(); line != null; line = sampled.readLine()) {
                String[] values = line.split(",", -1);
                if (values.length == 2 && values[1].strip().matches("[0-9.]+")) { // the last one may be cut off
                    megahertz += Double.parseDouble(values[0].strip());
                    watts += Double.parseDouble(values[1].strip());
                    samples++;
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        if (samples == 0) {
            return List.of();
        }
        return List.of(
                new ScalarResult("sm_mhz", megahertz / samples, "MHz", AggregationPolicy.AVG),
                new ScalarResult("watts", watts / samples, "W", AggregationPolicy.AVG));
    }
}
