package org.expertpool.harness.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.expertpool.harness.bench.device.DeviceTimeProfiler;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.Environment;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsFile;
import org.expertpool.harness.record.ResultsSchema;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaProbe;
import org.expertpool.pool.cuda.CudaStatus;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The JMH suite, run with JMH's own arguments: the benchmarks of this package, or those of the device. */
public final class JmhSuite {
    /** Which benchmarks a pattern may match. */
    public enum Part {
        HOST(".*\\.bench\\.device\\..*"),
        /** With time on the device; needs one. */
        DEVICE("^(?!.*\\.bench\\.device\\.).*");

        private final String excluded; // names of the others

        Part(String excluded) {
            this.excluded = excluded;
        }
    }

    private static final int FIRST_JDK_WITH_UNSAFE_WARNINGS = 24;
    private static final List<String> UNSAFE_FLAGS =
            List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED");

    private final CommandLineOptions options;
    private final Part part;

    /** Takes the arguments as JMH's own command line does; bad ones are bad input. */
    public JmhSuite(Part part, List<String> arguments) {
        this.part = part;
        try {
            options = new CommandLineOptions(arguments.toArray(String[]::new));
        } catch (CommandLineOptionException wrong) {
            throw new BadInputException(wrong.getMessage(), wrong);
        }
        var silent = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
        if (BenchmarkList.defaultList()
                .find(silent, options.getIncludes(), scoped().getExcludes())
                .isEmpty()) {
            throw new BadInputException("no benchmark matches " + String.join(", ", options.getIncludes())
                    + ", expected a pattern of the names that -l lists");
        }
    }

    /** Whether the arguments ask for a list or for help instead of a run; if so it is printed. */
    public boolean isAnswered() throws IOException {
        Runner runner = new Runner(scoped());
        if (options.shouldHelp()) {
            options.showHelp();
        } else if (options.shouldList()) {
            runner.list();
        } else if (options.shouldListWithParams()) {
            runner.listWithParams(options);
        } else if (options.shouldListProfilers()) {
            options.listProfilers();
        } else if (options.shouldListResultFormats()) {
            options.listResultFormats();
        } else {
            return false;
        }
        return true;
    }

    /**
     * Runs the benchmarks and writes {@code jmh.json} as JMH writes it, {@code results.csv} and {@code environment.json}
     * into an empty folder.
     */
    public List<ResultRow> run(Path folder, Path root) throws IOException {
        Instant start = Instant.now();
        Path json = folder.resolve("jmh.json");
        Path unfinished = folder.resolve(".jmh.json.tmp");
        Collection<RunResult> results;
        try {
            results = new Runner(withResult(unfinished)).run();
        } catch (RunnerException failure) {
            Files.deleteIfExists(unfinished);
            throw new IOException(failure.getMessage(), failure);
        }
        if (results.isEmpty()) {
            Files.deleteIfExists(unfinished);
            throw new IOException("every benchmark failed");
        }
        Files.move(unfinished, json);
        List<ResultRow> rows = JmhRows.of(results, part == Part.DEVICE ? deviceName() : "");
        try (ResultsFile csv = ResultsFile.create(folder.resolve(ResultsSchema.FILE_NAME))) {
            for (ResultRow row : rows) {
                csv.append(row);
            }
        }
        writeEnvironment(folder, root, start);
        return rows;
    }

    private Options scoped() {
        return new OptionsBuilder().parent(options).exclude(part.excluded).build();
    }

    /** The first device, in which contexts are opened; marked where a stub of the tests answers. */
    private static String deviceName() {
        if (CudaProbe.probe() instanceof CudaStatus.Available available) {
            String name = available.devices().get(0).name();
            return available.driverKind() == CudaStatus.DriverKind.STUB ? "stub: " + name : name;
        }
        return "";
    }

    private Options withResult(Path json) {
        // Forks start from the class path alone, so flags of the launcher do not reach them.
        List<String> flags = new ArrayList<>(options.getJvmArgsAppend().orElse(List.of()));
        if (Runtime.version().feature() >= FIRST_JDK_WITH_UNSAFE_WARNINGS) {
            flags.addAll(UNSAFE_FLAGS);
        }
        ChainedOptionsBuilder builder = new OptionsBuilder().parent(scoped());
        if (part == Part.DEVICE) {
            builder.addProfiler(DeviceTimeProfiler.class);
        }
        return builder.resultFormat(ResultFormatType.JSON)
                .result(json.toString())
                .verbosity(options.verbosity().orElse(VerboseMode.NORMAL))
                .jvmArgsAppend(flags.toArray(String[]::new))
                .build();
    }

    private static void writeEnvironment(Path folder, Path root, Instant start) throws IOException {
        ObjectMapper json = new ObjectMapper();
        ObjectNode environment = json.createObjectNode();
        environment.put("experiment", "bench");
        environment.put("started_utc", start.toString());
        environment.put("ended_utc", Instant.now().toString());
        environment.setAll(Environment.collect(root));
        String text = json.writerWithDefaultPrettyPrinter().writeValueAsString(environment) + "\n";
        AtomicFile.write(folder.resolve("environment.json"), text.getBytes(StandardCharsets.UTF_8));
    }
}
