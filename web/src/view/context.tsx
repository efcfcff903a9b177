// The context panel: what the next request has, with prices, and edits of it.

import { useEffect, useMemo } from "preact/hooks";
import { openDialog } from "../store/dialog.ts";
import { panelTab } from "../store/panels.ts";
import type { ThreadStore } from "../store/thread.ts";
import { lazy } from "../lib/lazy.tsx";
import { Icon } from "../lib/icons.tsx";
import { ContextItems } from "./contextitems.tsx";
import { Bar } from "./gauge.tsx";
import { Menu } from "./menu.tsx";
import { openPrompts } from "./openprompts.tsx";
import { Selection } from "./selection.ts";

const History = lazy(() => import("./history.tsx").then((m) => m.History));

/** ContextPanel shows the items of the context, or the edits of it. */
export function ContextPanel({ store }: { store: ThreadStore }) {
	const tab = panelTab.value;
	const selection = useMemo(() => new Selection(store), []);
	useEffect(() => selection.find.start(), []);
	return (
		<>
			<div class="panel-head">
				<Bar store={store} />
				<button class="quiet" type="button" aria-label="Undo the last edit" title="Undo (Ctrl+Z)"
					onClick={() => void store.edits.undo()}><Icon name="undo" /></button>
				<button class="quiet" type="button" aria-label="Redo" title="Redo (Ctrl+Y)"
					onClick={() => void store.edits.redo()}><Icon name="redo" /></button>
				<Menu label="Edit the context" entries={[
					{ label: "Trim to the last turns…", icon: "scissors", run: () => openDialog({ kind: "trim", store }) },
					{ label: "Compact…", icon: "compress", run: () => openDialog({ kind: "compact", store }) },
					{ label: "Exclude a category…", icon: "eyeOff", run: () => openDialog({ kind: "prune", store }) },
					{ label: "Show prompts…", icon: "eye", run: () => openPrompts(store) },
					{ label: "Restore everything…", icon: "undo", run: () => openDialog({ kind: "restore", store }) },
				]} />
			</div>
			{tab === "list" ? <ContextItems store={store} s={selection} /> : <History store={store} />}
		</>
	);
}
