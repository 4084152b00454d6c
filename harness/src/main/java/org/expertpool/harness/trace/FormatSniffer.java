package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.expertpool.pool.BadInputException;

/** Recognises a trace's form from its first bytes. */
final class FormatSniffer {
    private static final int HEAD_BYTES = 1 << 16;

    private FormatSniffer() {}

    static TraceFormat sniff(TextFile file) throws IOException {
        byte[] head = file.head(HEAD_BYTES);
        if (head.length == 0) {
            throw new BadInputException(file.path() + ": the file is empty, expected a trace");
        }
        if (head[0] == (byte) RecordLayout.MAGIC) {
            return TraceFormat.CANONICAL;
        }
        String text = new String(head, StandardCharsets.ISO_8859_1)
                .replaceFirst("^\u00EF\u00BB\u00BF", "")
                .strip();
        if (text.startsWith("[")) {
            return TraceFormat.JSON;
        }
        if (text.startsWith("{")) {
            // A line of its own with the fields of an event, or else one object over the whole file.
            String first = text.lines().findFirst().orElse("");
            return first.contains("\"layer_idx\"") || first.contains("\"selected_ids\"")
                    ? TraceFormat.JSONL
                    : TraceFormat.JSON;
        }
        String first = text.lines().findFirst().orElse("");
        if (first.matches("\"?[A-Za-z].*,.*")) {
            return TraceFormat.CSV;
        }
        if (first.matches("[-+0-9\\s]+")) {
            return TraceFormat.FLAT;
        }
        if (first.matches("\"?[-+0-9].*,.*")) {
            return TraceFormat.CSV_TOKEN;
        }
        throw new BadInputException(file.path() + " line 1: starts with '"
                + first.substring(0, Math.min(first.length(), 40)).replaceAll("[^\\x20-\\x7E]", "?")
                + "', expected a canonical, CSV, JSON or flat trace (--from names the form)");
    }
}
