/** The command line: one class a command, each thin. */
package org.expertpool.harness.cli;
