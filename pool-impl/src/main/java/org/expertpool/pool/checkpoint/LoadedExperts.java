package org.expertpool.pool.checkpoint;

import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.marlin.ScaleLoss;

/**
 * What a checkpoint's experts became.
 *
 * @param source their rows and alphas
 * @param loss what the scale factor rule lost over all of them, apart from any error of the arithmetic
 */
public record LoadedExperts(HostSource source, ScaleLoss loss) {}
