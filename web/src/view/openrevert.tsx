// Opens the dialogs that revert the files and the conversation.

import { lazy } from "../lib/lazy.tsx";
import type { ThreadStore } from "../store/thread.ts";
import { openDialog } from "../store/dialog.ts";
import type { TimelineItem } from "../wire/types.ts";

const Revert = lazy(() => import("./revert.tsx").then((m) => m.RevertDialog));

const Rewind = lazy(() => import("./rewind.tsx").then((m) => m.RewindDialog));

/** openRewind asks before it removes a turn and all later ones. Without a turn, the user chooses one. */
export function openRewind(store: ThreadStore, turnId?: string): void {
	openDialog({ kind: "part", view: () => <Rewind store={store} turnId={turnId} /> });
}

const Resend = lazy(() => import("./resend.tsx").then((m) => m.ResendDialog));

/** openResend edits a message and sends it again, in this thread or in a fork. */
export function openResend(store: ThreadStore, entry: TimelineItem): void {
	openDialog({ kind: "part", view: () => <Resend store={store} entry={entry} /> });
}

/** openRevert shows what a revert to the checkpoint before a turn does. */
export function openRevert(store: ThreadStore, turnId: string): void {
	const point = { id: turnId, kind: "turn" as const, inThread: true };
	openDialog({ kind: "part",
		view: () => <Revert store={store} point={point} title="Revert to this message" done={() => undefined} /> });
}
