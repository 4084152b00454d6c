/** Tables in Markdown pages that are filled from recorded results, so that no figure is typed. */
package org.expertpool.harness.tables;
