package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.expertpool.harness.bench.ChunkRouting;
import org.expertpool.harness.bench.DeviceLayers;
import org.expertpool.harness.bench.JmhSuite;
import org.expertpool.harness.bench.PrefillLayers;
import org.expertpool.harness.bench.PrefillTable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.CsvJson;
import org.expertpool.harness.record.NumberedFolders;
import org.expertpool.harness.run.RepositoryFiles;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** {@code poolbench bench}: the JMH suite. */
@Command(
        name = "bench",
        description = "Run the JMH suite; keep its JSON and export rows in the results schema.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Everything else is passed to JMH: a pattern of names, -p rows=258, -f 1, -wi 1, -i 3, -l to list, -lprof ...",
            "DIR gets jmh.json, results.csv (a row per fork) and environment.json.",
            "With --backend cuda and JMH arguments: planner, copies, alignment, GEMMs, layers and forwards, timed by events on",
            "the device, with the host's time beside; a row per iteration, so that one fork is enough for compare. Its interval",
            "then holds what iterations differ by; -f 3 adds what set-ups differ by. Example: bench --backend cuda Device"
        })
final class BenchCommand implements Callable<Integer> {
    private static final List<String> DEVICE_OPTIONS = List.of(
            "--model",
            "--rows",
            "--activations",
            "--forwards",
            "--prefill",
            "--tokens",
            "--routing",
            "--layers",
            "--json");

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Where the results go (default: experiments/results/bench/<UTC date>.<n>).")
    private Path out;

    @Option(
            names = "--backend",
            paramLabel = "cuda",
            description =
                    "cuda: the device's benchmarks; without JMH arguments a table, the time of a layer by engine, width and"
                            + " misses.")
    private String backend;

    @Option(names = "--model", defaultValue = "qwen3.8-flash-next", description = "With --backend cuda: the shape.")
    private String model;

    @Option(names = "--rows", defaultValue = "258", description = "With --backend cuda: N of the pool.")
    private int rows;

    @Option(
            names = "--activations",
            defaultValue = "bf16",
            paramLabel = "bf16|fp16",
            description = "With --backend cuda and no JMH arguments (those: -p activations=fp16): their type.")
    private String activations;

    @Option(names = "--forwards", defaultValue = "40", description = "With --backend cuda: timed for each figure.")
    private int forwards;

    @Option(
            names = "--prefill",
            split = ",",
            paramLabel = "N",
            description = "With --backend cuda: instead, a chunk of 512 tokens (or --tokens) through the partition path"
                    + " with so many experts of each layer resident.")
    private List<Integer> prefill = new ArrayList<>();

    @Option(names = "--tokens", split = ",", defaultValue = "512", description = "With --prefill: sizes of the chunk.")
    private List<Integer> tokens;

    @Option(
            names = "--routing",
            paramLabel = "PRESET",
            description = "With --prefill: the experts of this synthetic trace's tokens (default: drawn uniformly).")
    private String routing;

    @Option(names = "--layers", description = "With --prefill: only so many layers, where host memory is scarce.")
    private Integer layers;

    @Option(names = "--json", description = "With --backend cuda: print JSON instead of the table.")
    private boolean json;

    @Mixin
    private HostRowsOption hostRows;

    @Spec
    private CommandSpec spec;

    @Unmatched
    private List<String> arguments = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        if (backend != null && arguments.isEmpty()) {
            return layers();
        }
        requireCuda();
        if (backend == null) {
            requireNoDeviceOptions();
        }
        JmhSuite suite = new JmhSuite(backend == null ? JmhSuite.Part.HOST : JmhSuite.Part.DEVICE, arguments);
        if (suite.isAnswered()) {
            return ExitCode.OK;
        }
        if (backend != null) {
            CudaContext.whyNot().ifPresent(reason -> {
                throw new BadInputException("--backend cuda: " + reason);
            });
        }
        RepositoryFiles files = RepositoryFiles.find(Path.of(""));
        Path folder = folder(files);
        System.out.println(suite.run(folder, files.root()).size() + " rows in " + folder);
        return ExitCode.OK;
    }

    private ActivationType type() {
        return ActivationType.of("--activations", activations);
    }

    private void requireNoDeviceOptions() {
        for (String option : DEVICE_OPTIONS) {
            if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new BadInputException(option + ": expected --backend cuda beside it");
            }
        }
    }

    private void requireCuda() {
        if (backend != null && !backend.equals("cuda")) {
            throw new BadInputException("--backend is " + backend + ", expected cuda, or no such option");
        }
    }

    /** Device figures: a table, and layer.csv in DIR if one is named. */
    private int layers() throws IOException {
        requireCuda();
        if (forwards < 1) {
            throw new BadInputException("--forwards is " + forwards + ", expected at least 1");
        }
        if (!prefill.isEmpty()) {
            return prefill();
        }
        DeviceLayers bench =
                new DeviceLayers(ModelPresets.load(model), type(), rows, forwards, hostRows.rows(this::tell));
        try {
            bench.run();
        } finally {
            show("layer.csv", bench.table().csv(), bench.table().markdown());
        }
        return ExitCode.OK;
    }

    /** As {@link #layers}, of wide calls, into prefill.csv. */
    private int prefill() throws IOException {
        ModelGeometry geometry = ModelPresets.load(model);
        if (layers != null) {
            geometry = geometry.withLayers(layers);
        }
        PrefillLayers bench = new PrefillLayers(
                geometry,
                type(),
                prefill,
                new ChunkRouting(Optional.ofNullable(routing)),
                forwards,
                hostRows.rows(this::tell));
        try {
            bench.run(tokens);
        } finally {
            PrefillTable table = bench.table();
            show("prefill.csv", table.csv(), table.markdown());
            if (!table.ratios().isEmpty()) {
                write("prefill_ratios.csv", table.ratiosCsv());
            }
        }
        return ExitCode.OK;
    }

    private void tell(String line) {
        System.err.println("bench: " + line);
    }

    /** What was measured, also where it broke off; nothing where nothing was. */
    private void show(String name, String csv, String markdown) throws IOException {
        if (csv.lines().count() > 1) {
            write(name, csv);
            System.out.print(json ? CsvJson.of(csv) : markdown);
        }
    }

    private void write(String name, String csv) throws IOException {
        if (out != null) {
            Files.createDirectories(out);
            AtomicFile.write(out.resolve(name), csv.getBytes(StandardCharsets.UTF_8));
        }
    }

    private Path folder(RepositoryFiles files) throws IOException {
        if (out == null) {
            return NumberedFolders.create(files.results("bench"), LocalDate.now(ZoneOffset.UTC));
        }
        Files.createDirectories(out);
        try (Stream<Path> content = Files.list(out)) {
            if (content.findAny().isPresent()) {
                throw new BadInputException("--out " + out + ": is not empty, expected a new directory");
            }
        }
        return out;
    }
}
