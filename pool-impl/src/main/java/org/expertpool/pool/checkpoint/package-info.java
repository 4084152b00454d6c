/** Real weights: ModelOpt NVFP4 checkpoints in safetensors files, and their way into a host source. */
package org.expertpool.pool.checkpoint;
