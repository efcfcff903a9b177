// The dialog that is open. There is one at a time.

import { signal } from "@preact/signals";
import type { ContextItem, Thread } from "../wire/types.ts";
import type { ThreadStore } from "./thread.ts";

/**
 * Dialog is a dialog with what it needs. A part is a dialog whose file is loaded when it is first opened; view returns
 * its elements.
 */
export type Dialog =
	| { kind: "new" } | { kind: "keys" } | { kind: "palette" }
	| { kind: "rename"; thread: Thread } | { kind: "delete"; thread: Thread }
	| { kind: "trim"; store: ThreadStore } | { kind: "compact"; store: ThreadStore }
	| { kind: "prune"; store: ThreadStore }
	| { kind: "restore"; store: ThreadStore }
	| { kind: "replace"; store: ThreadStore; item: ContextItem }
	| { kind: "summary"; store: ThreadStore; trimPointId: string; text: string }
	| { kind: "part"; view(): unknown };

/** dialog is the open dialog, or null. */
export const dialog = signal<Dialog | null>(null);

/** openDialog opens a dialog instead of the former one. */
export function openDialog(d: Dialog): void {
	dialog.value = d;
}

/** closeDialog closes the dialog. */
export function closeDialog(): void {
	dialog.value = null;
}
