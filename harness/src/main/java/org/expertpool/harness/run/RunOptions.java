package org.expertpool.harness.run;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How an experiment is to be run.
 *
 * @param out the run's folder; absent: the next free one of the experiment, or on resume its newest
 * @param resume go on with the run in the folder
 * @param shard the part of the cells to run
 */
record RunOptions(Optional<Path> out, boolean resume, Shard shard) {}
