/**
 * MoE layers on the device: rows in bank or host memory, the kernels bound to them, and the engines that differ in where
 * the rows lie.
 */
package org.expertpool.pool.cuda.engine;
