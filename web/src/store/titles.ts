// Names of threads.

import { firstLine } from "../lib/format.ts";
import type { Thread } from "../wire/types.ts";

/** titleOf returns the name of a thread, or its first message. */
export function titleOf(t: Thread): string {
	return t.name || firstLine(t.preview, 80) || "New thread";
}
