package org.expertpool.harness.run;

/**
 * Cells that are taken apart into tables of their own: by layer, by sequence, over time.
 *
 * @param where the rows of those cells
 * @param stretchForwards forwards per line over time
 */
record Details(RowSelection where, int stretchForwards) {
    static final int STRETCH_FORWARDS = 50;
}
