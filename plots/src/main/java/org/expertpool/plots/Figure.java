package org.expertpool.plots;

import java.util.Optional;

/** One kind of figure: which rows it needs, and what it shows of them. Drawing is the same for all. */
interface Figure {
    /** What to draw of the table, none where the rows it needs aren't there. */
    Optional<FigureData> of(ResultsTable table);
}
