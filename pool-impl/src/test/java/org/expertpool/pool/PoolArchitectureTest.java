package org.expertpool.pool;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What may depend on what within the library. */
@AnalyzeClasses(packages = "org.expertpool.pool", importOptions = DoNotIncludeTests.class)
class PoolArchitectureTest {
    @ArchTest
    static final ArchRule ONLY_CUDA_KNOWS_JCUDA = noClasses()
            .that()
            .resideOutsideOfPackage("org.expertpool.pool.cuda..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jcuda..");

    @ArchTest
    static final ArchRule KNOWS_NEITHER_HARNESS_NOR_REPORTING = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.expertpool.harness..",
                    "org.expertpool.plots..",
                    "org.openjdk.jmh..",
                    "org.apache.commons.csv..",
                    "org.knowm.xchart..");

    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLES =
            slices().matching("org.expertpool.pool.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule WHAT_IS_COMMON_KNOWS_NO_PART = noClasses()
            .that()
            .resideInAPackage("org.expertpool.pool")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.expertpool.pool.*..");

    @ArchTest
    static final ArchRule NO_STATIC_STATE = fields().that().areStatic().should().beFinal();
}
