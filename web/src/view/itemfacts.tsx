// The price, the state and the menu of an item.

import { fork } from "../store/app.ts";
import { sentState } from "../wire/contextwords.ts";
import { cutBy } from "../store/halfanswers.ts";
import { showContext } from "../store/panels.ts";
import type { Entry } from "../store/timeline.ts";
import type { ThreadStore } from "../store/thread.ts";
import { CopyButton } from "../lib/copy.tsx";
import { count } from "../lib/format.ts";
import { Menu, type MenuEntry } from "./menu.tsx";
import { openResend, openRevert, openRewind } from "./openrevert.tsx";
import type { ContextItem, ThreadItem } from "../wire/types.ts";

interface Props {
	entry: Entry;
	turnId: string;
	item: ThreadItem;
	store: ThreadStore;
}

/** stateOf describes what of an item the next request has. */
function stateOf(items: readonly ContextItem[]): { label: string; name: string } | null {
	if (items.length === 0) return null;
	if (items.every((i) => !i.inPrompt)) {
		return { label: sentState(items.find((i) => !i.included) ?? items[0]!), name: "off" };
	}
	if (items.some((i) => i.replaced)) return { label: "replaced", name: "edited" };
	if (items.some((i) => !i.inPrompt)) return { label: "partly sent", name: "edited" };
	if (items.some((i) => i.pinned)) return { label: "pinned", name: "pinned" };
	return null;
}

/** textOf returns the text of an item that can be copied, or "". */
function textOf(item: ThreadItem): string {
	switch (item.type) {
		case "agentMessage":
		case "plan":
			return item.text;
		case "commandExecution":
			return item.aggregatedOutput ?? "";
	}
	return "";
}

/** Facts shows the price and the state of an item, and its menu. */
export function Facts({ entry, item, turnId, store }: Props) {
	// Ids of calls can repeat.
	const items = (store.context.byItemId.value.get(item.id) ?? []).filter((i) => i.turnId === turnId);
	const { data } = entry;
	const tokens = items.reduce((sum, i) => sum + (i.inPrompt ? i.tokens : 0), 0);
	const cut = items.length === 0 ? cutBy(store, turnId, item) : "";
	const state = cut ? { label: `not sent: cut by ${cut}`, name: "off" } : stateOf(items);
	const ids = items.map((i) => i.id);
	const included = items.some((i) => i.included);
	const pinned = items.length > 0 && items.every((i) => i.pinned);
	const entries: MenuEntry[] = items.length > 0 ? [
		{ label: included ? "Exclude from context" : "Include in context", icon: included ? "eyeOff" : "eye",
			run: () => void store.plan.change(ids, { included: !included }) },
		{ label: pinned ? "Unpin" : "Pin", icon: "pin", run: () => void store.plan.change(ids, { pinned: !pinned }) },
		{ label: "Show in context", icon: "panel", run: () => showContext(ids[0]!) },
	] : [];
	if (item.type === "userMessage") {
		const again = data;
		if (again.type === "item" && store.items.timeline.isFirstMessage(again)) {
			entries.push({ label: "Edit and send again…", icon: "edit", run: () => openResend(store, again) });
		}
		entries.push({ label: "Fork before this message", icon: "fork", run: () => void fork(store.id, turnId) });
		entries.push({ label: "Rewind to here…", icon: "undo", run: () => openRewind(store, turnId) });
		entries.push({ label: "Revert files to here…", icon: "file", run: () => openRevert(store, turnId) });
	}
	return (
		<span class="item-facts">
			{state && <span class={`badge ${state.name}`}>{state.label}</span>}
			{tokens > 0 && <span class="tokens" title="tokens in the next request">{count(tokens)}</span>}
			<span class="item-actions">
				{textOf(item) && <CopyButton
					text={() => (data.type === "item" ? store.items.wholeItem(data).then(textOf) : Promise.resolve(textOf(item)))} />}
				{entries.length > 0 && <Menu label="Item actions" entries={entries} />}
			</span>
		</span>
	);
}
