/** Number formats on the host: E2M1, E4M3, bf16, fp16, and NVFP4 tensors made of the first two. */
package org.expertpool.pool.format;
