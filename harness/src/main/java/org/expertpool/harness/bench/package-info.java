/** JMH benchmarks, {@code <Subject>Benchmark.<verb><Condition>}; run by {@code poolbench bench}. */
package org.expertpool.harness.bench;
