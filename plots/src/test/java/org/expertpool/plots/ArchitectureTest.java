package org.expertpool.plots;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "org.expertpool", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule KNOWS_NEITHER_POOL_NOR_HARNESS = noClasses()
            .that()
            .resideInAPackage("org.expertpool.plots..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.expertpool.pool..", "org.expertpool.harness..");
}
