/** Measurement records: the results schema, its CSV files, and the environment of a run. */
package org.expertpool.harness.record;
