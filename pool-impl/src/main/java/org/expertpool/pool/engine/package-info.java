/**
 * Whole MoE layers in Java, by the fixed arithmetic of the design: activations through expert rows to outputs, for small
 * shapes and as the reference of device engines.
 */
package org.expertpool.pool.engine;
