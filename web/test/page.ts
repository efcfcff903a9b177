// Tests of modules that need a page, compute for long, or use regular expressions that the interpreter of the other
// tests does not run as browsers do.

import "./lib.test.ts";
import "./markdown.test.tsx";
import "./patch.test.ts";
import "./promptdiff.test.ts";
import "./transport.test.ts";
