package org.expertpool.harness.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What was fitted is hit; what is predicted is only bounded where the proposal states a bound. */
class SeedCheckTest {
    @Test
    void fittedFiguresAreHitAndTheLongContextFits() {
        SeedCheck check = SeedCheck.run();
        assertThat(check.entries())
                .filteredOn(entry -> entry.role() != SeedCheck.Role.PREDICTED)
                .hasSize(3)
                .allSatisfy(entry -> assertThat(Math.abs(entry.deviationPercent()))
                        .as(entry.statement())
                        .isLessThan(1));
        assertThat(check.entries())
                .filteredOn(entry -> entry.unit().equals("tokens"))
                .singleElement()
                .satisfies(entry -> assertThat(entry.modelled()).isGreaterThan(entry.reported()));
        assertThat(check.lines()).hasSize(check.entries().size() + 1);
    }
}
