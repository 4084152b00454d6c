package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.BadInputException;

/** A backend whose metrics are a function of the cell, and that logs each measurement it is asked for. */
final class FakeBackend implements CellBackend {
    private final Path log;
    private final long delayMillis;

    FakeBackend(Path log, long delayMillis) {
        this.log = log;
        this.delayMillis = delayMillis;
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public String basis() {
        return "modelled";
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        return cells.size();
    }

    @Override
    public void measure(Cell cell, int repetition, ResultRow.Builder row) throws IOException {
        Files.writeString(
                log, cell.id() + "#" + repetition + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        pause();
        row.put("hit_ratio", cell.rows() / 512.0);
        row.put("misses", cell.id().hashCode() & 0xffff);
        switch (cell.rows()) {
            case 16 -> throw new SkippedException("no trace");
            case 17 -> throw new BadInputException("rows: 17 is odd");
            case 18 -> throw new IllegalStateException("broken\nbadly");
            case 15 -> throw new RunEndedException("the device is lost", new IllegalStateException("error 700"));
            default -> row.put("decode_tok_per_s", 10.0 + repetition);
        }
    }

    private void pause() {
        try {
            Thread.sleep(delayMillis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {}
}
