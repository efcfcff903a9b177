// The panel beside the conversation: its tabs, of which most are files of their own.

import { lazy } from "../lib/lazy.tsx";
import { Icon } from "../lib/icons.tsx";
import type { ThreadStore } from "../store/thread.ts";
import { Splitter } from "./splitter.tsx";
import { ContextPanel } from "./context.tsx";
import { panelTab, panelWide, tabNames, tabs, toggleWide, type Tab } from "../store/panels.ts";

const Changes = lazy(() => import("./changes.tsx").then((m) => m.ChangesPanel));
const Checkpoints = lazy(() => import("./checkpoints.tsx").then((m) => m.CheckpointsPanel));
const Memory = lazy(() => import("./memory.tsx").then((m) => m.MemoryPanel));
const Terminals = lazy(() => import("./terminals.tsx").then((m) => m.TerminalsPanel));

/** Panel shows the chosen tab. */
export function Panel({ store }: { store: ThreadStore }) {
	const tab = panelTab.value;
	const onKeyDown = (e: KeyboardEvent) => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (by === undefined || e.altKey) return;
		e.preventDefault();
		panelTab.value = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
		requestAnimationFrame(() => document.getElementById(`tab-${panelTab.value}`)?.focus());
	};
	return (
		<aside class="panel" aria-label="Panel">
			<Splitter column="panel" />
			<div class="tabs">
				<div role="tablist" aria-label="Panel" onKeyDown={onKeyDown}>
					{tabs.map((t, i) => (
						<button type="button" role="tab" id={`tab-${t}`} aria-selected={t === tab} aria-controls="tab-panel" tabIndex={t === tab ? 0 : -1}
							title={`${tabNames[t]} (Alt+${i + 1})`} onClick={() => (panelTab.value = t)}>{tabNames[t]}</button>
					))}
				</div>
				<button class="quiet wider" type="button" aria-pressed={panelWide.value} aria-label="Wide panel" title="Wide panel"
					onClick={toggleWide}><Icon name="wide" /></button>
			</div>
			<div class="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
				<View tab={tab} store={store} />
			</div>
		</aside>
	);
}

function View({ tab, store }: { tab: Tab; store: ThreadStore }) {
	switch (tab) {
		case "list":
		case "history":
			return <ContextPanel store={store} />;
		case "changes":
			return <Changes store={store} />;
		case "checkpoints":
			return <Checkpoints store={store} />;
		case "memory":
			return <Memory store={store} />;
		case "terminals":
			return <Terminals store={store} />;
	}
}
