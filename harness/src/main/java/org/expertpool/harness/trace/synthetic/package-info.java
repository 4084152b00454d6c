/** Seeded synthetic routing: a model of how routers choose, with presets calibrated to published measurements. */
package org.expertpool.harness.trace.synthetic;
