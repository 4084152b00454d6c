/** The Marlin form of NVFP4 experts: weight words, scale order, scale codes, scale factors. */
package org.expertpool.pool.marlin;
