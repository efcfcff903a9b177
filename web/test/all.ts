// All tests of modules.

import "./context.test.ts";
import "./lib.test.ts";
import "./maplayout.test.ts";
import "./losses.test.ts";
import "./markdown.test.tsx";
import "./patch.test.ts";
import "./promptdiff.test.ts";
import "./review.test.ts";
import "./suggestions.test.ts";
import "./timeline.test.ts";
import "./transport.test.ts";
import "./usage.test.ts";
