/** The CUDA side: whether a device is there, and which kernels were built. The only package that may import jcuda. */
package org.expertpool.pool.cuda;
