package org.expertpool.harness.run;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How an experiment is to be run.
 *
 * @param out the run's folder; absent: the next free one of the experiment, or on resume its newest
 * @param resume go on with the run in the folder
 * @param shard the part of the cells to run
 * @param repetition the one repetition of each cell to run; absent: all of them
 */
record RunOptions(Optional<Path> out, boolean resume, Shard shard, OptionalInt repetition) {
    RunOptions(Optional<Path> out, boolean resume, Shard shard) {
        this(out, resume, shard, OptionalInt.empty());
    }

    boolean includes(int wanted) {
        return repetition.isEmpty() || repetition.getAsInt() == wanted;
    }
}
