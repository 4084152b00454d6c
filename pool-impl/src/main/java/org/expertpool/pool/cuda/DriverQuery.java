package org.expertpool.pool.cuda;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/** The driver's answers about itself and its devices. Loading this class loads JCuda and needs the driver library. */
final class DriverQuery {
    private static final int NAME_BYTES = 256;

    private DriverQuery() {}

    /** A driver call that did not succeed; the message names the call and the driver's error. */
    static final class DriverException extends Exception {
        private DriverException(String call, int result) {
            super("%s: %s (%d)".formatted(call, CUresult.stringFor(result), result));
        }
    }

    /** The newest CUDA version that the driver serves. */
    static String cudaVersion() throws DriverException {
        int[] version = new int[1];
        check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(version));
        return String.format(Locale.ROOT, "%d.%d", version[0] / 1000, version[0] % 1000 / 10);
    }

    static List<CudaDevice> devices() throws DriverException {
        check("cuInit", JCudaDriver.cuInit(0));
        int[] count = new int[1];
        check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
        List<CudaDevice> devices = new ArrayList<>();
        for (int index = 0; index < count[0]; index++) {
            devices.add(device(index));
        }
        return devices;
    }

    private static CudaDevice device(int index) throws DriverException {
        CUdevice device = new CUdevice();
        check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, index));
        byte[] name = new byte[NAME_BYTES];
        check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(name, name.length, device));
        long[] memoryBytes = new long[1];
        check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(memoryBytes, device));
        String[] busId = new String[1];
        check("cuDeviceGetPCIBusId", JCudaDriver.cuDeviceGetPCIBusId(busId, NAME_BYTES, device));
        return new CudaDevice(
                index,
                text(name),
                attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                memoryBytes[0],
                busId[0].strip());
    }

    private static int attribute(CUdevice device, int attribute) throws DriverException {
        int[] value = new int[1];
        check("cuDeviceGetAttribute", JCudaDriver.cuDeviceGetAttribute(value, attribute, device));
        return value[0];
    }

    /** The driver ends the name with a zero byte. */
    private static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }

    private static void check(String call, int result) throws DriverException {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new DriverException(call, result);
        }
    }
}
