package org.expertpool.harness.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.bench.device.DeviceClockProfiler;
import org.expertpool.harness.cli.CommandResult;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The device's benchmarks at small shapes on the emulated driver, where any two events are 250 us apart: so device time per
 * operation is 250 us over the operations of an invocation, whatever the host's time.
 */
class DeviceBenchmarksTest {
    private static final int CALLS = 4;
    private static final String EXPECTED_US = ResultRow.format(250.0 / CALLS);

    @TempDir
    private Path folder;

    @BeforeEach
    void emulatedDriver() {
        EmulatedDriver.require();
    }

    private List<ResultRow> bench(String name, int forks, int iterations, String... parameters) throws Exception {
        Path out = folder.resolve(name + forks);
        List<String> arguments = new ArrayList<>(List.of("bench", "--backend", "cuda", "--out", out.toString(), name));
        arguments.addAll(List.of("-f", "" + forks, "-wi", "0", "-i", "" + iterations, "-r", "1ms", "-opi", "" + CALLS));
        for (String parameter : parameters) {
            arguments.addAll(List.of("-p", parameter));
        }
        EmulatedDriver.run(Main.class, arguments, Map.of());
        List<ResultRow> rows = ResultsCsv.readDirectory(out);
        assertThat(rows).allSatisfy(row -> {
            assertThat(row.text("device_us_per_op")).isEqualTo(EXPECTED_US);
            assertThat(row.number("ns_per_op").orElseThrow()).isPositive();
            assertThat(row.text("device")).startsWith("stub: ");
        });
        return rows;
    }

    @Test
    void partsOfALayerAndForwardsRunAtSmallShapes() throws Exception {
        assertThat(bench("DeviceCopy", 0, 1, "model=tiny", "layers=2", "copies=1,3"))
                .hasSize(2);
        assertThat(bench("DeviceMoe", 0, 1, "model=tiny", "layers=2", "tokens=1,9"))
                .extracting(row -> row.text("cell").replaceFirst(",.*tokens", ",tokens"))
                .containsExactlyInAnyOrder(
                        "benchmark=DeviceMoeBenchmark.align,tokens=1",
                        "benchmark=DeviceMoeBenchmark.align,tokens=9",
                        "benchmark=DeviceMoeBenchmark.gemms,tokens=1",
                        "benchmark=DeviceMoeBenchmark.gemms,tokens=9",
                        "benchmark=DeviceMoeBenchmark.call,tokens=1",
                        "benchmark=DeviceMoeBenchmark.call,tokens=9");
        assertThat(bench("DeviceForward", 0, 1, "model=tiny", "layers=2", "rows=6", "engine=resident,pool:2,uva"))
                .extracting(row -> row.text("engine"))
                .containsExactly("resident", "pool:2", "uva", "resident", "pool:2", "uva");
    }

    @Test
    void iterationsAreRepetitionsAndTwoRecordingsCompare() throws Exception {
        String[] small = {"layers=2", "experts=13", "topK=2", "rows=6", "misses=0,1"};
        List<ResultRow> rows = bench("DevicePlanner", 0, 3, small);
        assertThat(rows).extracting(row -> row.text("repetition")).containsExactly("1", "2", "3", "1", "2", "3");
        assertThat(rows.get(0).text("cell"))
                .isEqualTo("benchmark=DevicePlannerBenchmark.step,experts=13,layers=2,misses=0,rows=6,topK=2");

        List<ResultRow> forked = bench("DevicePlanner", 1, 3, small);
        assertThat(forked)
                .extracting(row -> row.text("cell"))
                .isEqualTo(rows.stream().map(row -> row.text("cell")).toList());
        JsonNode json = new ObjectMapper()
                .readTree(Files.readString(folder.resolve("DevicePlanner1").resolve("jmh.json")));
        assertThat(json.get(1).at("/secondaryMetrics/device_us_per_op/rawData/0"))
                .hasSize(3);

        CommandResult compared = CommandResult.poolbench(
                "compare",
                folder.resolve("DevicePlanner0").toString(),
                folder.resolve("DevicePlanner1").toString());
        assertThat(compared.out().lines().filter(line -> line.contains("device_us_per_op")))
                .hasSize(2)
                .allMatch(line -> line.contains("1.0000 to 1.0000") && line.contains("same"));
    }

    @Test
    void clockAndPowerAreSampledWhileAnIterationRuns() throws Exception {
        Path sampler = Files.writeString(folder.resolve("sampler"), """
                #!/bin/sh
                printf '345, 76.5\\n1980, 500.5\\n1700, 699.5\\n16'
                exec sleep 60
                """);
        assertThat(sampler.toFile().setExecutable(true)).isTrue();
        Path out = folder.resolve("clock");
        List<String> arguments = new ArrayList<>(
                List.of("bench", "--backend", "cuda", "--out", out.toString(), "DeviceCopy", "-f", "0", "-wi", "0"));
        arguments.addAll(List.of("-i", "1", "-r", "1ms", "-opi", "4", "-p", "model=tiny", "-p", "copies=1"));
        arguments.addAll(List.of("-prof", DeviceClockProfiler.class.getName() + ":" + sampler));
        EmulatedDriver.run(Main.class, arguments, Map.of());
        JsonNode metrics = new ObjectMapper()
                .readTree(Files.readString(out.resolve("jmh.json")))
                .at("/0/secondaryMetrics");
        assertThat(metrics.at("/sm_mhz/score").asDouble()).isEqualTo(1840);
        assertThat(metrics.at("/watts/score").asDouble()).isEqualTo(600);
        assertThat(metrics.has("device_us_per_op")).isTrue();
    }

    /** The command with its exit code as the last line. */
    static final class Command {
        public static void main(String[] arguments) {
            System.out.println("exit " + Main.run(arguments));
        }
    }

    private List<String> figures(Map<String, String> environment, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(
                List.of("bench", "--backend", "cuda", "--model", "tiny", "--forwards", "2", "--out", "" + folder));
        arguments.addAll(List.of(more));
        return EmulatedDriver.run(Command.class, arguments, environment);
    }

    @Test
    void whereTheDeviceIsLostItIsSaidWhereAndTheFiguresSoFarStay() throws Exception {
        assertThat(figures(Map.of("EMULATED_FAIL", "cuGraphLaunch", "EMULATED_FAIL_AFTER", "9"), "--rows", "6"))
                .contains("exit 1", "not freed: 0")
                .contains("poolbench bench: launch a graph: cuGraphLaunch: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
        assertThat(Files.readAllLines(folder.resolve("layer.csv")))
                .hasSize(2)
                .last()
                .isEqualTo("stub device 0,tiny,bf16,,resident,graph,1,,3,2,83.33,83.33,83.33,,");

        Map<String, String> whileTimed = Map.of("EMULATED_FAIL", "cuStreamSynchronize", "EMULATED_FAIL_AFTER", "60");
        assertThat(figures(whileTimed, "--prefill", "3", "--tokens", "2"))
                .contains("exit 1", "not freed: 0")
                .contains("poolbench bench: time 1 forwards: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
        assertThat(folder.resolve("prefill.csv")).doesNotExist();
    }

    @Test
    void otherBackendsAndNoDeviceAreRefused() throws IOException {
        CommandResult java = CommandResult.poolbench("bench", "--backend", "java", "Device");
        assertThat(java.exit()).isEqualTo(2);
        assertThat(java.err()).isEqualTo("poolbench bench: --backend is java, expected cuda, or no such option\n");
        CommandResult host = CommandResult.poolbench("bench", "DevicePlanner");
        assertThat(host.exit()).isEqualTo(2);
        assertThat(host.err()).contains("no benchmark matches DevicePlanner");
    }
}
