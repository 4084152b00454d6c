/** Byte layouts of the structs that Java and the kernels share, held to the C++ header by a probe. */
package org.expertpool.pool.cuda.layout;
