package org.expertpool.pool.plan;

import static org.expertpool.pool.plan.PoolTables.ABSENT;

import java.util.Optional;
import org.expertpool.pool.PoolFailureException;

/** The invariants that hold between any two steps (pool-semantics 4, end). */
public final class TableCheck {
    private final PoolTables tables;
    private final PoolConfig config;

    private TableCheck(PoolTables tables) {
        this.tables = tables;
        config = tables.config();
    }

    /** Throws {@link PoolFailureException} naming the first broken invariant, a set error flag included. */
    public static void require(PoolTables tables) {
        Optional<String> broken = firstViolation(tables);
        if (broken.isEmpty() && tables.error != 0) {
            broken = Optional.of("error is " + tables.error + ", expected 0: invalid routing was seen");
        }
        broken.ifPresent(violation -> {
            throw new PoolFailureException("table check: " + violation);
        });
    }

    /** The first broken invariant of the placement, in words; says nothing of the error flag. */
    public static Optional<String> firstViolation(PoolTables tables) {
        TableCheck check = new TableCheck(tables);
        return check.keys().or(check::rows);
    }

    private Optional<String> keys() {
        for (int key = 0; key < config.keys(); key++) {
            int expert = key % config.experts();
            int hot = tables.hotRow[key];
            int cold = tables.coldRow[key];
            if ((hot == ABSENT) == (cold == ABSENT)) {
                return violation(key, "hotRow " + hot + " and coldRow " + cold + ", expected exactly one of them");
            }
            if (hot == ABSENT && cold != expert) {
                return violation(key, "coldRow " + cold + ", expected " + expert);
            }
            if (hot != ABSENT && (hot < 0 || hot >= config.poolRows())) {
                return violation(key, "hotRow " + hot + ", expected a pool row below " + config.poolRows());
            }
            if (hot != ABSENT && tables.rowKey[hot] != key) {
                return violation(key, "hotRow " + hot + ", whose owner is key " + tables.rowKey[hot]);
            }
        }
        return Optional.empty();
    }

    private Optional<String> rows() {
        for (int row = 0; row < config.bankRows(); row++) {
            int owner = tables.rowKey[row];
            if (row >= config.poolRows()) {
                if (owner != ABSENT || tables.rowUse[row] != Long.MAX_VALUE) {
                    return Optional.of("staging row " + row + ": owner key " + owner + ", use " + tables.rowUse[row]
                            + ", expected no owner and use " + Long.MAX_VALUE);
                }
            } else if (owner != ABSENT && (owner < 0 || owner >= config.keys() || tables.hotRow[owner] != row)) {
                return Optional.of("row " + row + ": owner key " + owner + " does not have this row");
            } else if (tables.rowUse[row] > tables.clock) {
                return Optional.of("row " + row + ": use " + tables.rowUse[row] + " is after clock " + tables.clock);
            }
        }
        return Optional.empty();
    }

    private Optional<String> violation(int key, String what) {
        return Optional.of("layer " + key / config.experts() + " expert " + key % config.experts() + ": " + what);
    }
}
