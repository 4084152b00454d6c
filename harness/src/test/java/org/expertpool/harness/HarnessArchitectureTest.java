package org.expertpool.harness;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What may depend on what within the harness. */
@AnalyzeClasses(packages = "org.expertpool.harness", importOptions = DoNotIncludeTests.class)
class HarnessArchitectureTest {
    @ArchTest
    static final ArchRule REACHES_THE_DEVICE_THROUGH_THE_POOL_ALONE =
            noClasses().should().dependOnClassesThat().resideInAPackage("jcuda..");

    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLES =
            slices().matching("org.expertpool.harness.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule ONLY_COMMANDS_KNOW_THE_COMMAND_LINE = noClasses()
            .that()
            .resideOutsideOfPackage("org.expertpool.harness.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.expertpool.harness.cli..", "picocli..");

    /** The classes that JMH generates for its benchmarks are its own affair. */
    @ArchTest
    static final ArchRule NO_STATIC_STATE = fields().that()
            .areStatic()
            .and()
            .areDeclaredInClassesThat()
            .resideOutsideOfPackage("..jmh_generated..")
            .should()
            .beFinal();
}
