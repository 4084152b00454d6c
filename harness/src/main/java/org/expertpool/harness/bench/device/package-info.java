/** JMH benchmarks of the device's parts, timed by events on the device with host time beside. */
package org.expertpool.harness.bench.device;
