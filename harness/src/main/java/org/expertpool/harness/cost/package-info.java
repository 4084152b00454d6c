/** What a forward costs and what fits: device profiles, the decode time model, the memory budget. Basis: modelled. */
package org.expertpool.harness.cost;
