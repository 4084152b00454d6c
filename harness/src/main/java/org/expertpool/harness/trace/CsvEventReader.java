package org.expertpool.harness.trace;

import java.io.IOException;
import java.util.BitSet;
import java.util.Optional;

/** Reads the three CSV forms; {@link CsvColumns} tells them apart. */
final class CsvEventReader implements EventReader {
    private final TextFile file;
    private final CsvColumns columns;

    CsvEventReader(TextFile file, Optional<TraceFormat> format) throws IOException {
        this.file = file;
        try (NumberScanner scanner = new NumberScanner(file, false)) {
            if (!scanner.atLine()) {
                throw file.bad(scanner.line(), "the file is empty, expected a CSV trace");
            }
            long line = scanner.line();
            String first = scanner.restOfLine();
            String second = scanner.atLine() ? scanner.restOfLine() : "";
            this.columns = CsvColumns.of(file, line, first, second, format);
            if (format.isPresent() && format.get() != columns.format()) {
                throw file.bad(
                        line,
                        "the columns are those of " + columns.format().label() + ", expected "
                                + format.get().label());
            }
        }
    }

    @Override
    public void read(Sink sink) throws IOException {
        try (NumberScanner scanner = new NumberScanner(file, false)) {
            if (columns.headed() && scanner.atLine()) {
                scanner.restOfLine();
            }
            if (columns.longForm()) {
                readLanes(scanner, sink);
            } else {
                readEvents(scanner, sink);
            }
        }
    }

    private void readEvents(NumberScanner scanner, Sink sink) throws IOException {
        RouteEvent event = new RouteEvent();
        event.lanes = columns.experts();
        event.weighted = columns.weighted();
        while (scanner.atLine()) {
            readKeys(scanner, event);
            for (int lane = 0; lane < columns.experts(); lane++) {
                event.setId(lane, scanner.wholeNumber("expert"));
                step(scanner, columns.keys() + 1 + lane);
            }
            for (int lane = 0; columns.weighted() && lane < columns.experts(); lane++) {
                event.setWeight(lane, scanner.decimal("weight"));
                step(scanner, columns.keys() + columns.experts() + 1 + lane);
            }
            sink.event(event);
        }
    }

    /** Lines of one event stand together, its lanes in any order. */
    private void readLanes(NumberScanner scanner, Sink sink) throws IOException {
        RouteEvent event = new RouteEvent();
        RouteEvent line = new RouteEvent();
        BitSet lanes = new BitSet();
        event.weighted = columns.weighted();
        while (scanner.atLine()) {
            readKeys(scanner, line);
            long lane = scanner.wholeNumber("lane");
            if (lane < 0 || lane >= TraceShape.MAX) {
                throw file.bad(line.line, "lane " + lane + ", expected 0 to " + (TraceShape.MAX - 1));
            }
            step(scanner, columns.keys() + 1);
            boolean same = line.sequence == event.sequence && line.token == event.token && line.layer == event.layer;
            if (!same || lanes.isEmpty()) {
                emit(event, lanes, sink);
                event.line = line.line;
                event.sequence = line.sequence;
                event.token = line.token;
                event.layer = line.layer;
            } else if (lanes.get((int) lane)) {
                throw file.bad(line.line, "lane " + lane + " of this event a second time, expected it once");
            }
            lanes.set((int) lane);
            event.setId((int) lane, scanner.wholeNumber("expert"));
            step(scanner, columns.keys() + 2);
            if (columns.weighted()) {
                event.setWeight((int) lane, scanner.decimal("weight"));
                step(scanner, columns.keys() + 3);
            }
        }
        emit(event, lanes, sink);
    }

    private void emit(RouteEvent event, BitSet lanes, Sink sink) {
        if (lanes.isEmpty()) {
            return;
        }
        if (lanes.cardinality() != lanes.length()) {
            int missing = lanes.nextClearBit(0);
            throw file.bad(
                    event.line,
                    "lane " + missing + " of this event is missing, expected lanes 0 to " + (lanes.length() - 1)
                            + " together");
        }
        event.lanes = lanes.length();
        lanes.clear();
        sink.event(event);
    }

    private void readKeys(NumberScanner scanner, RouteEvent event) throws IOException {
        event.line = scanner.line();
        if (columns.sequenced()) {
            event.sequence = scanner.wholeNumber("sequence");
            step(scanner, 1);
        }
        event.token = scanner.wholeNumber("token");
        step(scanner, columns.keys() - 1);
        event.layer = scanner.wholeNumber("layer");
        step(scanner, columns.keys());
    }

    /** Steps over the separator behind a column, numbered from 1. */
    private void step(NumberScanner scanner, int column) throws IOException {
        long line = scanner.line();
        boolean last = column == columns.count();
        if (scanner.endOfLine() != last) {
            int found = column + (last ? scanner.restOfLine().split(",", -1).length : 0);
            throw file.bad(line, found + " columns, expected " + columns.count());
        }
    }
}
