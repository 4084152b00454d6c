package org.expertpool.harness.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.cuda.CudaProbe;
import org.expertpool.pool.cuda.CudaStatus;
import org.expertpool.pool.cuda.KernelBinary;

/** Looks at this machine. */
public final class Doctor {
    private Doctor() {}

    /** Everything that a run can need, in the order in which it is printed. */
    public static List<Finding> examine() {
        Commands commands =
                new Commands(Optional.ofNullable(System.getenv("PATH")).orElse(""));
        CudaStatus cuda = CudaProbe.probe();
        KernelBinary kernels = KernelBinary.describe();
        List<Finding> speeds = SpeedFindings.measure(cuda, kernels); // first: an idle link reports a lower generation
        List<Finding> findings = new ArrayList<>(new DeviceFindings(cuda, kernels, commands).all());
        findings.addAll(speeds);
        findings.addAll(new HostFindings(commands).all());
        return List.copyOf(findings);
    }
}
