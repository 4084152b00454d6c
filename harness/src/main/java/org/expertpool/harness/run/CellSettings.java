package org.expertpool.harness.run;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;

/** What backends with real pools ask of a cell's settings; each refusal names field, value and what is expected. */
final class CellSettings {
    private CellSettings() {}

    /** The settings of a pool as it is installed and plans by itself; a simulation knows others. */
    static void requireInstalledPool(Cell cell, Window window) {
        require(cell.policy().equals("evict.lru"), "policy", cell.policy(), "evict.lru, the pool's own");
        require(cell.scope() == Scope.GLOBAL, "scope", cell.scope(), "global, the pool's own");
        require(window.initial() == Initial.FIRST_N, "initial", window.initial(), "first-n, as a pool is installed");
        require(!window.resetAtSequence(), "reset", "sequence", "no reset: a pool is installed once");
    }

    static void require(boolean holds, String field, Object value, String expected) {
        if (!holds) {
            throw new BadInputException(field + " is " + value + ", expected " + expected);
        }
    }
}
