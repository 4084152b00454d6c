package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.harness.io.FileHash;

/**
 * Reads a trace from one of the text forms: a first pass checks the events and learns the shape, a second makes forwards,
 * streaming where the events are in order and sorting them on the heap where not.
 */
final class TextImport {
    /** Above this many bytes in the canonical form the trace goes through a temporary file. */
    static final long HEAP_BYTES = 64L << 20;

    private final TextFile file;
    private final EventReader reader;
    private final EventSurvey survey;
    private final TraceShape shape;

    TextImport(TextFile file, TraceFormat format, TraceOptions options) throws IOException {
        this.file = file;
        this.reader = reader(file, format, options);
        this.survey = new EventSurvey(file, options);
        reader.read(survey);
        this.shape = survey.shape(options);
    }

    /** The trace, on the heap up to {@code heapBytes}. */
    RoutingTrace open(long heapBytes) throws IOException {
        String source = "imported from " + file.path().getFileName() + ", sha256 " + FileHash.sha256(file.path());
        long forwards = survey.events() / shape.layers();
        if (forwards * RecordLayout.forwardBytes(shape, 1) <= heapBytes) {
            InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, source);
            read(builder);
            return builder.build();
        }
        Path folder = Files.createTempDirectory("poolbench-trace");
        Path canonical = folder.resolve("imported.trace");
        try {
            try (TraceWriter writer = TraceWriter.create(canonical, shape, source)) {
                read(writer);
                writer.commit();
            }
            // The mapping outlives the name, so that nothing is left behind however the process ends.
            return MappedTrace.open(canonical);
        } finally {
            Files.deleteIfExists(canonical);
            Files.delete(folder);
        }
    }

    private void read(ForwardSink sink) throws IOException {
        ForwardAssembler assembler = new ForwardAssembler(file, shape, sink);
        if (survey.sorted()) {
            reader.read(assembler);
        } else {
            EventSorter sorter = new EventSorter(file, shape, survey.events());
            reader.read(sorter);
            sorter.sortInto(assembler);
        }
        assembler.end();
    }

    private static EventReader reader(TextFile file, TraceFormat format, TraceOptions options) throws IOException {
        return switch (format) {
            case CSV, CSV_TOKEN, CSV_LONG -> new CsvEventReader(file, options.format());
            case JSONL -> new JsonlEventReader(file);
            case JSON -> new JsonEventReader(file, options);
            case FLAT -> new FlatEventReader(file, options);
            case CANONICAL -> throw new IllegalArgumentException("canonical is no text form");
        };
    }
}
