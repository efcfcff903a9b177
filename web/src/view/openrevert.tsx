// Opens the dialog that reverts to the checkpoint before a turn.

import { lazy } from "../lib/lazy.tsx";
import type { ThreadStore } from "../store/thread.ts";
import { openDialog } from "./dialogs.tsx";

const Revert = lazy(() => import("./revert.tsx").then((m) => m.RevertDialog));

export function openRevert(store: ThreadStore, turnId: string): void {
	const point = { id: turnId, kind: "turn" as const, inThread: true };
	openDialog({ kind: "part", view: () => <Revert store={store} point={point} title="Revert to this message" done={() => undefined} /> });
}
