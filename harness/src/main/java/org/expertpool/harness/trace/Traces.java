package org.expertpool.harness.trace;

import java.io.BufferedWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.OptionalInt;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.pool.BadInputException;

/** Opens and copies traces. */
public final class Traces {
    private Traces() {}

    /** Opens a trace of any known form with the defaults. */
    public static RoutingTrace open(Path file) throws IOException {
        return open(file, TraceOptions.defaults());
    }

    /**
     * Opens a trace of any known form, compressed with gzip or not.
     *
     * @throws BadInputException names the file and the line or byte where it is wrong
     */
    public static RoutingTrace open(Path file, TraceOptions options) throws IOException {
        return open(file, options, TextImport.HEAP_BYTES);
    }

    /** As {@link #open(Path, TraceOptions)}, text imports on the heap up to that many canonical bytes. */
    static RoutingTrace open(Path file, TraceOptions options, long heapBytes) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new BadInputException(
                    "trace " + file + (Files.exists(file) ? ": not a regular file" : ": no such file"));
        }
        TextFile text = new TextFile(file);
        TraceFormat found = FormatSniffer.sniff(text);
        TraceFormat format = options.format().orElse(found);
        if (format != TraceFormat.CANONICAL) {
            return new TextImport(text, format, options).open(heapBytes);
        }
        MappedTrace trace = text.isCompressed() ? openDecompressed(text) : MappedTrace.open(file);
        agree(file, "layers", trace.shape().layers(), options.layers());
        agree(file, "experts", trace.shape().experts(), options.experts());
        agree(file, "topK", trace.shape().topK(), options.topK());
        return trace;
    }

    private static MappedTrace openDecompressed(TextFile file) throws IOException {
        Path temporary = Files.createTempFile("poolbench", ".trace");
        try {
            try (InputStream in = file.open()) {
                Files.copy(in, temporary, StandardCopyOption.REPLACE_EXISTING);
            } catch (EOFException | ZipException damaged) {
                throw file.damaged(1, damaged);
            }
            // The mapping outlives the name, so that nothing is left behind however the process ends.
            return MappedTrace.open(temporary, file.path().toString());
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void agree(Path file, String field, int found, OptionalInt given) {
        if (given.isPresent() && given.getAsInt() != found) {
            throw new BadInputException(
                    file + ": " + field + " is " + found + " in the file, expected " + given.getAsInt() + " as given");
        }
    }

    /**
     * Writes a trace to a file in that form; text is compressed where the name ends in {@code .gz}. The file appears whole
     * or not at all.
     *
     * @return what the form could not hold, a phrase each
     */
    public static List<String> write(RoutingTrace trace, Path target, TraceFormat format) throws IOException {
        boolean compressed = target.toString().endsWith(".gz");
        if (format == TraceFormat.CANONICAL) {
            if (compressed) {
                throw new BadInputException("output " + target
                        + ": canonical files are memory-mapped and not compressed, expected a name without .gz");
            }
            try (TraceWriter writer = TraceWriter.create(target, trace.shape(), trace.source())) {
                copy(trace, writer);
                writer.commit();
            }
            return List.of();
        }
        try (AtomicFile file = AtomicFile.create(target)) {
            List<String> lost;
            try (OutputStream bytes = file.stream();
                    OutputStream sink = compressed ? new GZIPOutputStream(bytes, 1 << 16) : bytes;
                    Writer out = new BufferedWriter(new OutputStreamWriter(sink, StandardCharsets.UTF_8))) {
                lost = TextExport.write(trace, format, out);
            }
            file.commit();
            return lost;
        }
    }

    /** Hands all forwards of a trace to a sink; weights too where {@code weighted}. */
    public static void copy(RoutingTrace trace, ForwardSink sink) {
        TraceShape shape = trace.shape();
        ForwardCursor cursor = trace.cursor();
        int[] layerIds = new int[0];
        float[] layerWeights = new float[0];
        int[] ids = new int[0];
        float[] weights = shape.weighted() ? new float[0] : null;
        while (cursor.next()) {
            int lanes = Math.multiplyExact(cursor.tokens(), shape.topK());
            int all = Math.multiplyExact(lanes, shape.layers());
            if (ids.length < all) {
                layerIds = new int[lanes];
                layerWeights = new float[lanes];
                ids = new int[all];
                weights = shape.weighted() ? new float[all] : null;
            }
            for (int layer = 0; layer < shape.layers(); layer++) {
                cursor.ids(layer, layerIds);
                System.arraycopy(layerIds, 0, ids, layer * lanes, lanes);
                if (weights != null) {
                    cursor.weights(layer, layerWeights);
                    System.arraycopy(layerWeights, 0, weights, layer * lanes, lanes);
                }
            }
            sink.forward(ForwardHeader.of(cursor), ids, weights);
        }
    }
}
