package org.expertpool.harness;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.expertpool.plots.BadResultsException;
import org.expertpool.plots.FigureException;
import org.expertpool.plots.Figures;

/** What may depend on what within the harness. */
@AnalyzeClasses(packages = "org.expertpool.harness", importOptions = DoNotIncludeTests.class)
class HarnessArchitectureTest {
    @ArchTest
    static final ArchRule REACHES_THE_DEVICE_THROUGH_THE_POOL_ALONE =
            noClasses().should().dependOnClassesThat().resideInAPackage("jcuda..");

    /** Figures are drawn from results.csv: through their entry point, and from where a run or a command ends. */
    @ArchTest
    static final ArchRule KNOWS_PLOTS_BY_THEIR_ENTRY_POINT_ALONE = noClasses()
            .should()
            .dependOnClassesThat(resideInAPackage("org.expertpool.plots..")
                    .and(not(belongToAnyOf(Figures.class, BadResultsException.class, FigureException.class))));

    @ArchTest
    static final ArchRule ONLY_RUNS_AND_COMMANDS_KNOW_PLOTS = noClasses()
            .that()
            .resideOutsideOfPackages("org.expertpool.harness.cli..", "org.expertpool.harness.run..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.expertpool.plots..");

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
