/** Files that appear whole or not at all, and hashes of files. */
package org.expertpool.harness.io;
