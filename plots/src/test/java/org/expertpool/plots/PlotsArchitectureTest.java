package org.expertpool.plots;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Figures come from CSV alone. */
@AnalyzeClasses(packages = "org.expertpool.plots", importOptions = DoNotIncludeTests.class)
class PlotsArchitectureTest {
    @ArchTest
    static final ArchRule KNOWS_NEITHER_POOL_NOR_HARNESS = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.expertpool.pool..", "org.expertpool.harness..", "jcuda..");

    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLES = slices().matching("org.expertpool.plots.(*)..")
            .should()
            .beFreeOfCycles()
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule NO_STATIC_STATE =
            fields().that().areStatic().should().beFinal().allowEmptyShould(true);
}
