// Tests of modules that run without a page.

import "./environment.ts";
import "./access.test.ts";
import "./app.test.ts";
import "./changes.test.ts";
import "./compaction.test.ts";
import "./completions.test.ts";
import "./connection.test.ts";
import "./context.test.ts";
import "./contextrows.test.ts";
import "./drafts.test.ts";
import "./edits.test.ts";
import "./find.test.ts";
import "./items.test.ts";
import "./losses.test.ts";
import "./maplayout.test.ts";
import "./notices.test.ts";
import "./plan.test.ts";
import "./questions.test.ts";
import "./resource.test.ts";
import "./reverts.test.ts";
import "./review.test.ts";
import "./suggestions.test.ts";
import "./thread.test.ts";
import "./timeline.test.ts";
import "./turns.test.ts";
import "./usage.test.ts";
