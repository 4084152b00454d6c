/** Experiments: a definition is expanded into cells, each cell is run once, and its row is kept whatever happens. */
package org.expertpool.harness.run;
