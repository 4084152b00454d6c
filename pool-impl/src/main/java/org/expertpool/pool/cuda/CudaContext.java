package org.expertpool.pool.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.layout.KernelLayouts;

/**
 * The first device with the kernels loaded, and the owner of all that is made from it. For the thread that opened it, and
 * for others inside {@link #onThisThread}. Several of a process share the device's primary context, so that their work
 * runs side by side; separate contexts would take turns.
 */
public final class CudaContext implements AutoCloseable {
    private final CudaDevice device;
    private final DriverKind driverKind;
    private final CUdevice handle = new CUdevice();
    private final CUcontext context = new CUcontext();
    private final CUmodule module = new CUmodule();
    private final List<CudaResource> resources = new ArrayList<>(); // oldest first; guarded by itself
    private long made; // resources so far; guarded by them
    private boolean moduleLoaded;
    private boolean closed;

    private CudaContext(CudaStatus.Available status) {
        device = status.devices().get(0);
        driverKind = status.driverKind();
    }

    /** Opens device 0; refuses with the reason where there is no device or there are no kernels. */
    public static CudaContext open() {
        CudaStatus status = CudaProbe.probe();
        if (!(status instanceof CudaStatus.Available available)) {
            throw new BadInputException("backend cuda: " + ((CudaStatus.Missing) status).reason()
                    + "; expected a machine with an NVIDIA device and its driver");
        }
        byte[] binary = kernels();
        CudaContext opened = new CudaContext(available);
        CudaException.check(
                "open device 0", "cuDeviceGet", JCudaDriver.cuDeviceGet(opened.handle, opened.device.index()));
        CudaException.check(
                "open device 0",
                "cuDevicePrimaryCtxRetain",
                JCudaDriver.cuDevicePrimaryCtxRetain(opened.context, opened.handle));
        try {
            CudaException.check("open device 0", "cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(opened.context));
            CudaException.check(
                    "load the kernels on " + opened.device.name(),
                    "cuModuleLoadData",
                    JCudaDriver.cuModuleLoadData(opened.module, binary));
            opened.moduleLoaded = true;
            return opened;
        } catch (CudaException failure) {
            try {
                opened.close();
            } catch (CudaException again) {
                failure.addSuppressed(again);
            }
            throw failure;
        }
    }

    /** Why {@link #open} would refuse, in words; empty where a device and the kernels are there. */
    public static Optional<String> whyNot() {
        if (CudaProbe.probe() instanceof CudaStatus.Missing missing) {
            return Optional.of(missing.reason());
        }
        return KernelBinary.describe() instanceof KernelBinary.Skipped skipped
                ? Optional.of("this build has no kernels: " + skipped.reason())
                : Optional.empty();
    }

    public CudaDevice device() {
        return device;
    }

    /** Whether a device answers or a stub of the tests; travels with every result. */
    public DriverKind driverKind() {
        return driverKind;
    }

    /** The kernel of that name, with a struct of so many bytes as its one argument. */
    public Kernel kernel(String name, int argumentBytes) {
        return kernel(name, new KernelArgument(this, argumentBytes));
    }

    /** The kernel of that name, with an argument that others may share. */
    public Kernel kernel(String name, KernelArgument argument) {
        CUfunction function = new CUfunction();
        CudaException.check(
                "look up kernel " + name,
                "cuModuleGetFunction",
                JCudaDriver.cuModuleGetFunction(function, module, name));
        return new Kernel(name, function, argument);
    }

    /** Runs work that calls the driver on a thread other than the one that opened this. */
    public <T> T onThisThread(Supplier<T> work) {
        CudaException.check("use the device", "cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(context));
        try {
            return work.get();
        } finally {
            JCudaDriver.cuCtxPopCurrent(new CUcontext()); // takes back what was pushed: nothing there to fail
        }
    }

    /** Device memory that is free now, in bytes. */
    public long freeBytes() {
        long[] free = new long[1];
        CudaException.check("read the free memory", "cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, new long[1]));
        return free[0];
    }

    /** All device memory that there is for programs, in bytes. */
    public long totalBytes() {
        long[] total = new long[1];
        CudaException.check("read the memory's size", "cuMemGetInfo", JCudaDriver.cuMemGetInfo(new long[1], total));
        return total[0];
    }

    /** Takes what was just allocated into ownership. */
    void own(CudaResource resource) {
        synchronized (resources) {
            resource.number = made++;
            resources.add(resource);
        }
    }

    /** Things made and not yet freed. */
    int alive() {
        synchronized (resources) {
            return resources.size();
        }
    }

    /** Begins to make several things that are of use together alone; for the thread that opened this. */
    public Attempt attempt() {
        synchronized (resources) {
            return new Attempt(made);
        }
    }

    /** Things made together: at its end, all that were made since it began are freed, newest first, unless it succeeded. */
    public final class Attempt implements AutoCloseable {
        private final long from;
        private boolean succeeded;

        private Attempt(long from) {
            this.from = from;
        }

        /** Everything is there, and stays. */
        public void succeeded() {
            succeeded = true;
        }

        @Override
        public void close() {
            CudaException first = succeeded ? null : free(from);
            if (first != null) {
                throw first;
            }
        }
    }

    void forget(CudaResource resource) {
        synchronized (resources) {
            resources.remove(resource);
        }
    }

    /** Frees everything, newest first; goes on after a failure and throws the first at the end. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        CudaException first = free(0);
        if (moduleLoaded) {
            first = attempt(
                    () -> CudaException.check(
                            "unload the kernels", "cuModuleUnload", JCudaDriver.cuModuleUnload(module)),
                    first);
        }
        first = attempt(
                () -> CudaException.check(
                        "close the device", "cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(handle)),
                first);
        if (first != null) {
            throw first;
        }
    }

    /** Frees what has this number or a later one, newest first; goes on after a failure and returns the first. */
    private CudaException free(long from) {
        CudaException first = null;
        for (CudaResource newest = newest(); newest != null && newest.number >= from; newest = newest()) {
            first = attempt(newest::close, first);
        }
        return first;
    }

    private CudaResource newest() {
        synchronized (resources) {
            return resources.isEmpty() ? null : resources.get(resources.size() - 1);
        }
    }

    private static CudaException attempt(Runnable release, CudaException first) {
        try {
            release.run();
        } catch (CudaException failure) {
            if (first == null) {
                return failure;
            }
            first.addSuppressed(failure);
        }
        return first;
    }

    private static byte[] kernels() {
        KernelBinary kernels = KernelBinary.describe();
        if (!(kernels instanceof KernelBinary.Built built)) {
            throw new BadInputException("backend cuda: this build has no kernels: "
                    + ((KernelBinary.Skipped) kernels).reason() + "; expected a build with nvcc");
        }
        if (built.layoutVersion() != KernelLayouts.VERSION) {
            throw new BadInputException(
                    "backend cuda: kernels of layout " + built.layoutVersion() + ", expected " + KernelLayouts.VERSION);
        }
        try (InputStream binary = CudaContext.class.getResourceAsStream(KernelBinary.FOLDER + "pool.fatbin")) {
            return binary.readAllBytes();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
