/** Two runs set beside each other, cell by cell, with the noise taken into account. */
package org.expertpool.harness.compare;
