/* A libcuda.so.1 without a device behind it: it proves that the binding loads and passes arguments, nothing more.
   STUB_DEVICES (default 1) is the device count, STUB_INIT (default 0) the result of cuInit. */
#include <stdio.h>
#include <stdlib.h>

#ifndef STUB_ATTRIBUTE
#define STUB_ATTRIBUTE(attribute) (attribute) /* the caller sees which attribute was asked for */
#endif

const char expertpool_stub_driver[] = "stub";

static int setting(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value ? atoi(value) : otherwise;
}

int cuInit(unsigned flags) { return flags ? 1 : setting("STUB_INIT", 0); }

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = setting("STUB_DEVICES", 1);
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  snprintf(name, bytes, "stub device %d", device);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = ((size_t)5 << 30) + device;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = STUB_ATTRIBUTE(attribute);
  return 0;
}

int cuDeviceGetPCIBusId(char* id, int bytes, int device) {
  snprintf(id, bytes, "0000:%02x:00.0", device + 1);
  return 0;
}
