/** Planner conformance: steps and controls as JSON lines in, decisions and table hashes as JSON lines out. */
package org.expertpool.harness.replay;
