package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.expertpool.harness.io.FileHash;
import org.expertpool.harness.trace.InMemoryTrace;
import org.expertpool.harness.trace.PrefillChunks;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.Traces;
import org.expertpool.harness.trace.combine.LongInput;
import org.expertpool.harness.trace.combine.StreamMerge;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;

/** The traces of an experiment, each opened or generated once and kept. */
final class TraceLibrary implements AutoCloseable {
    private final TraceSpec spec;
    private final RepositoryFiles files;
    private final Map<Key, RoutingTrace> open = new HashMap<>();
    private RoutingTrace lastTokens;
    private OptionalLong lastSeed = OptionalLong.empty();

    /** The settings of a cell that shape its trace. */
    private record Key(OptionalLong seed, OptionalInt streams, OptionalInt inputTokens, int chunkTokens) {
        static Key of(Cell cell) {
            return new Key(cell.seed(), cell.streams(), cell.inputTokens(), cell.chunkTokens());
        }

        String words() {
            return (seed.isPresent() ? "seed " + seed.getAsLong() : "file")
                    + (streams.isPresent() ? ", " + streams.getAsInt() + " streams" : "")
                    + (inputTokens.isPresent()
                            ? ", " + inputTokens.getAsInt() + " input tokens in chunks of " + chunkTokens
                            : "");
        }
    }

    TraceLibrary(TraceSpec spec, RepositoryFiles files) {
        this.spec = spec;
        this.files = files;
    }

    RepositoryFiles files() {
        return files;
    }

    /** Refuses a trace file whose bytes are not those that the definition names; an absent one is for {@link #open}. */
    static void verify(TraceSpec spec, RepositoryFiles files) throws IOException {
        if (spec instanceof TraceSpec.Merged merged) {
            verify(merged.of(), files);
        }
        if (spec instanceof TraceSpec.File file && Files.exists(files.resolve(file.path()))) {
            String found = FileHash.sha256(files.resolve(file.path()));
            if (!found.equals(file.sha256())) {
                throw new BadInputException(
                        "trace " + file.path() + ": SHA-256 is " + found + ", expected " + file.sha256());
            }
        }
    }

    /** The trace that a cell replays. */
    synchronized RoutingTrace open(Cell cell) throws IOException {
        Key key = Key.of(cell);
        RoutingTrace trace = open.get(key);
        if (trace == null) {
            trace = load(key);
            open.put(key, trace);
        }
        return trace;
    }

    private RoutingTrace load(Key key) throws IOException {
        if (key.streams().isPresent()) {
            return sideBySide((TraceSpec.Preset) spec, key);
        }
        if (key.inputTokens().isPresent()) {
            return afterPrompt((TraceSpec.Preset) spec, key);
        }
        return load(spec, key.seed());
    }

    /** So many sequences at once, none of which ends without another one to follow. */
    private RoutingTrace sideBySide(TraceSpec.Preset preset, Key key) {
        int streams = key.streams().getAsInt();
        long sequence = SyntheticTraces.model(preset.preset()).maxSequenceTokens();
        long tokens = Math.multiplyExact(preset.forwards() + sequence, streams);
        RoutingTrace drawn = tokens(preset, tokens, key.seed()); // held: each stream walks it with a cursor of its own
        StreamMerge merge = new StreamMerge(List.of(drawn), streams, OptionalLong.empty());
        InMemoryTrace.Builder copy = InMemoryTrace.builder(
                merge.shape(), "the first " + preset.forwards() + " forwards of: " + merge.source());
        long[] written = {0};
        merge.writeTo((header, ids, weights) -> {
            if (written[0]++ < preset.forwards()) {
                copy.forward(header, ids, weights);
            }
        });
        return copy.build();
    }

    private RoutingTrace afterPrompt(TraceSpec.Preset preset, Key key) {
        int inputTokens = key.inputTokens().getAsInt();
        RoutingTrace tokens = tokens(preset, inputTokens + preset.forwards(), key.seed());
        LongInput request = new LongInput(tokens, inputTokens, key.chunkTokens());
        InMemoryTrace.Builder copy = InMemoryTrace.builder(tokens.shape(), request.source());
        request.writeTo(copy);
        return copy.build();
    }

    /** The last one is kept: cells whose chunks alone differ have the same tokens. */
    private RoutingTrace tokens(TraceSpec.Preset preset, long count, OptionalLong seed) {
        if (lastTokens == null || lastTokens.forwards() != count || !lastSeed.equals(seed)) {
            try (RoutingTrace generated = SyntheticTraces.preset(preset.preset(), count, seed.orElseThrow())) {
                InMemoryTrace.Builder copy = InMemoryTrace.builder(generated.shape(), generated.source());
                Traces.copy(generated, copy);
                lastTokens = copy.build();
                lastSeed = seed;
            }
        }
        return lastTokens;
    }

    private RoutingTrace load(TraceSpec wanted, OptionalLong seed) throws IOException {
        if (wanted instanceof TraceSpec.Merged merged) {
            try (RoutingTrace whole = load(merged.of(), seed)) {
                StreamMerge merge =
                        new StreamMerge(List.of(whole), merged.streams(), OptionalLong.of(merged.shuffleSeed()));
                InMemoryTrace.Builder copy = InMemoryTrace.builder(merge.shape(), merge.source());
                merge.writeTo(copy);
                return copy.build();
            }
        }
        if (wanted instanceof TraceSpec.Preset preset) {
            // Generated once and held: a simulation per size would otherwise generate it again.
            long tokens = Math.multiplyExact(preset.forwards(), preset.prefillTokens());
            try (RoutingTrace generated = SyntheticTraces.preset(preset.preset(), tokens, seed.orElseThrow())) {
                InMemoryTrace.Builder copy = InMemoryTrace.builder(generated.shape(), source(preset, generated));
                if (preset.prefillTokens() > 1) {
                    PrefillChunks.copy(generated, preset.prefillTokens(), preset.forwards(), copy);
                } else {
                    Traces.copy(generated, copy);
                }
                return copy.build();
            }
        }
        TraceSpec.File file = (TraceSpec.File) wanted;
        Path path = files.resolve(file.path());
        if (!Files.exists(path)) {
            throw new SkippedException("trace file " + file.path() + " is not here");
        }
        return Traces.open(path);
    }

    private static String source(TraceSpec.Preset preset, RoutingTrace generated) {
        return preset.prefillTokens() > 1
                ? generated.source() + ", of which the first " + preset.forwards() + " with the first "
                        + preset.prefillTokens() + " tokens of a sequence as one"
                : generated.source();
    }

    /** Where the traces opened so far come from, in words. */
    synchronized Map<String, String> sources() {
        Map<String, String> sources = new TreeMap<>();
        open.forEach((key, trace) -> sources.put(key.words(), trace.source()));
        return sources;
    }

    @Override
    public synchronized void close() {
        open.values().forEach(RoutingTrace::close);
        open.clear();
    }
}
