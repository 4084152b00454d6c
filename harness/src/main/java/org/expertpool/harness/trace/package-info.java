/** Routing traces: the canonical binary form, importers, generators. */
package org.expertpool.harness.trace;
