/** Results CSV in, PNG and SVG figures out; knows neither pool nor harness. */
package org.expertpool.plots;
