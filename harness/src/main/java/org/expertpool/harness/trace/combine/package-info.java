/** Makes wider forwards of single-token decode: streams side by side, and consecutive tokens of one sequence together. */
package org.expertpool.harness.trace.combine;
