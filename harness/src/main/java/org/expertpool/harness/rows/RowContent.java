package org.expertpool.harness.rows;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.function.IntConsumer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.marlin.ActivationType;

/**
 * Which rows, and how they are made.
 *
 * @param fileName where they are kept in a folder of such files
 * @param words what they are; the same words, the same bytes
 * @param maker fills the memory that it asks for
 */
public record RowContent(
        String fileName,
        String words,
        ExpertRowLayout layout,
        ActivationType activations,
        int layers,
        int experts,
        Maker maker) {
    /** Fills memory with rows; {@code filled} is told of each layer, by several threads at once. */
    @FunctionalInterface
    public interface Maker {
        HostSource make(SlabAllocator memory, IntConsumer filled);
    }

    /** Seeded experts; {@code label} names their model. */
    public static RowContent seeded(String label, SyntheticExperts rows) {
        return new RowContent(
                label + "-" + rows.layers() + "x" + rows.experts() + "-seed" + rows.seed() + "-"
                        + rows.type().label() + ".rows",
                "seeded experts, seed " + rows.seed() + ", " + rows.type().label() + ", " + rowsHash(rows),
                rows.layout(),
                rows.type(),
                rows.layers(),
                rows.experts(),
                rows::hostSource);
    }

    /** Of the first and the last row and the alphas, so that a file does not outlive the way in which rows are made. */
    private static String rowsHash(SyntheticExperts rows) {
        ByteBuffer row = ByteBuffer.allocate(Math.toIntExact(rows.layout().rowBytes()));
        rows.fillRow(0, 0, row);
        int first = row.flip().hashCode();
        rows.fillRow(rows.layers() - 1, rows.experts() - 1, row.clear());
        int last = row.flip().hashCode();
        return String.format(
                Locale.ROOT,
                "rows %08x %08x, alphas %08x",
                first,
                last,
                rows.alphas().hashCode());
    }

    long bytes() {
        return Math.multiplyExact((long) layers * experts, layout.rowBytes());
    }

    void requireSame(HostSource made) {
        if (!made.layout().equals(layout)
                || made.activations() != activations
                || made.layers() != layers
                || made.experts() != experts) {
            throw new BadInputException(words + ": " + made.layers() + " layers of " + made.experts() + " rows "
                    + made.layout() + " were made, expected " + layers + " of " + experts + " " + layout);
        }
    }
}
