package org.expertpool.harness.trace;

import java.io.IOException;

/** Reads whole numbers {@code layer e0 .. eK-1 layer e0 ..}, separated by white space, line ends or commas. */
final class FlatEventReader implements EventReader {
    private final TextFile file;
    private final int topK;

    FlatEventReader(TextFile file, TraceOptions options) throws IOException {
        this.file = file;
        this.topK = options.topK().isPresent() ? options.topK().getAsInt() : guess(file, options);
    }

    @Override
    public void read(Sink sink) throws IOException {
        FlatEvents events = new FlatEvents(file, topK, sink);
        try (NumberScanner scanner = new NumberScanner(file, true)) {
            long line = 1;
            while (scanner.atNumber()) {
                line = scanner.line();
                events.number(line, scanner.wholeNumber("number"));
            }
            events.endStream(line);
        }
    }

    private static int guess(TextFile file, TraceOptions options) throws IOException {
        StrideGuess guess = new StrideGuess();
        try (NumberScanner scanner = new NumberScanner(file, true)) {
            while (scanner.atNumber() && guess.wants()) {
                guess.add(scanner.wholeNumber("number"));
            }
        }
        return guess.topK(file, options);
    }
}
