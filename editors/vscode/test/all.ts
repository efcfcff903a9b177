// All tests of the extension that need no editor.

import "./approvals.test.ts";
import "./exclude.test.ts";
import "./mux.test.ts";
import "./page.test.ts";
import "./places.test.ts";
import "./program.test.ts";
import "./reference.test.ts";
import "./server.test.ts";
import "./session.test.ts";
import "./shared.test.ts";
import "./sides.test.ts";
import "./threads.test.ts";
