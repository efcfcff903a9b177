// Why a thread cannot be changed.

import { connected } from "./app.ts";
import type { ThreadStore } from "./thread.ts";

/** readOnlyReason returns why a thread cannot be changed now, or "". */
export function readOnlyReason(store: ThreadStore): string {
	if (!connected()) return "The connection to the server is lost.";
	if (store.phase.value === "archived") return "The thread is archived.";
	if (store.phase.value === "locked") return "Another program has the thread open.";
	return store.turns.current.value !== null ? "A turn is in progress." : "";
}
