// Opens the prompt inspector, whose file is loaded with its first use.

import { lazy } from "../lib/lazy.tsx";
import type { ThreadStore } from "../store/thread.ts";
import { openDialog } from "../store/dialog.ts";

const Inspector = lazy(() => import("./inspector.tsx").then((m) => m.Inspector));

/** openPrompts opens the inspector of a thread. */
export function openPrompts(store: ThreadStore): void {
	openDialog({ kind: "part", view: () => <Inspector store={store} /> });
}
