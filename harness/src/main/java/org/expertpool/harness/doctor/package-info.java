/** What this machine can run: device, driver, link, kernels, JDK, plotting, data; and how to get what is missing. */
package org.expertpool.harness.doctor;
