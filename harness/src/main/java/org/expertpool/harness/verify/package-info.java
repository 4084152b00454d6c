/** The conformance suite that runs on a user's machine: planners beside one another over seeded streams. */
package org.expertpool.harness.verify;
