/** The library a serving engine would embed: what is common to all its packages. */
package org.expertpool.pool;
