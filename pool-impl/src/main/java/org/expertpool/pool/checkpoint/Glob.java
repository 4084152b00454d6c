package org.expertpool.pool.checkpoint;

/** Patterns of module names, in which a star stands for any characters, dots included. */
final class Glob {
    private Glob() {}

    /** Whether the pattern matches a module's name or that of a module around it: the beginning of the name up to a dot. */
    static boolean covers(String pattern, String module) {
        int star = pattern.indexOf('*');
        if (!module.startsWith(star < 0 ? pattern : pattern.substring(0, star))) {
            return false;
        }
        for (int end = module.indexOf('.'); end >= 0; end = module.indexOf('.', end + 1)) {
            if (matches(pattern, module.substring(0, end))) {
                return true;
            }
        }
        return matches(pattern, module);
    }

    /** Goes back to the last star alone where a character does not fit, so that no pattern takes more than n * m steps. */
    static boolean matches(String pattern, String text) {
        int p = 0;
        int star = -1;
        int starText = 0;
        for (int t = 0; t < text.length(); ) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                starText = t;
            } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++starText;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }
}
