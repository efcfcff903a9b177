// A list of all commands and threads, filtered by words.

import { useEffect, useRef, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { Icon, type IconName } from "../lib/icons.tsx";
import { baseName } from "../lib/format.ts";
import { openDialog } from "../store/dialog.ts";
import { openSettings } from "./opensettings.tsx";
import { openRewind } from "./openrevert.tsx";
import { openPrompts } from "./openprompts.tsx";
import { showPanel, tabNames, tabs } from "../store/panels.ts";
import { reveal } from "../store/reveal.ts";
import { titleOf } from "../store/titles.ts";

interface Command {
	label: string;
	detail: string;
	icon: IconName;
	run(): void;
}

const maxShown = 12;

function commands(): Command[] {
	const store = app.current.value;
	const list: Command[] = [
		{ label: "New thread…", detail: "", icon: "plus", run: () => openDialog({ kind: "new" }) },
		{ label: "Settings…", detail: "", icon: "settings", run: openSettings },
		{ label: "Keyboard shortcuts", detail: "?", icon: "list", run: () => openDialog({ kind: "keys" }) },
	];
	if (store) {
		list.push(
			{ label: "Find in messages", detail: "Ctrl+F", icon: "search", run: () => (store.find.open.value = true) },
			{ label: "Go to the end", detail: "G", icon: "down", run: () => reveal.end() },
			{ label: "Trim to the last turns…", detail: "", icon: "scissors", run: () => openDialog({ kind: "trim", store }) },
			{ label: "Compact…", detail: "", icon: "compress", run: () => openDialog({ kind: "compact", store }) },
			{ label: "Show prompts…", detail: "", icon: "eye", run: () => openPrompts(store) },
			{ label: "Exclude a category…", detail: "", icon: "eyeOff", run: () => openDialog({ kind: "prune", store }) },
			{ label: "Undo the last edit of the context", detail: "Ctrl+Z", icon: "undo", run: () => void store.edits.undo() },
			{ label: "Redo", detail: "Ctrl+Y", icon: "redo", run: () => void store.edits.redo() },
			{ label: "Restore the full context…", detail: "", icon: "undo", run: () => openDialog({ kind: "restore", store }) },
			{ label: "Rewind the conversation…", detail: "Esc Esc", icon: "undo", run: () => openRewind(store) },
			...tabs.map((tab, i): Command =>
				({ label: `Show ${tabNames[tab]}`, detail: `Alt+${i + 1}`, icon: "panel", run: () => showPanel(tab) })),
		);
	}
	for (const t of app.threads.value) {
		list.push({ label: titleOf(t), detail: baseName(t.cwd), icon: "file", run: () => app.show(t.id) });
	}
	return list;
}

function matching(term: string): Command[] {
	const words = term.toLowerCase().split(/\s+/).filter((w) => w !== "");
	return commands().filter((c) => words.every((w) => `${c.label} ${c.detail}`.toLowerCase().includes(w)))
		.slice(0, maxShown);
}

/** Palette finds commands and threads, and runs or opens them. */
export function Palette({ close }: { close(): void }) {
	const [term, setTerm] = useState("");
	const [at, setAt] = useState(0);
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => input.current?.focus(), []);
	const list = matching(term);
	const chosen = Math.min(at, list.length - 1);
	const run = (c: Command | undefined) => {
		if (!c) return;
		close();
		c.run();
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (by !== undefined) {
			setAt((chosen + by + list.length) % Math.max(1, list.length));
			e.preventDefault();
		} else if (e.key === "Enter") {
			run(list[chosen]);
			e.preventDefault();
		}
	};
	return (
		<div class="palette">
			<input ref={input} type="text" role="combobox" aria-label="Command or thread" placeholder="Command or thread" aria-expanded="true"
				aria-controls="palette-list" aria-activedescendant={list.length > 0 ? `palette-${chosen}` : undefined}
				value={term} onKeyDown={onKeyDown} onInput={(e) => {
					setTerm(e.currentTarget.value);
					setAt(0);
				}} />
			<div role="listbox" id="palette-list" aria-label="Commands and threads">
				{list.map((c, i) => (
					<div role="option" id={`palette-${i}`} class="suggestion" aria-selected={i === chosen} onClick={() => run(c)}>
						<Icon name={c.icon} /><span class="ellipsis">{c.label}</span><span class="spacer" /><span class="faint">{c.detail}</span>
					</div>
				))}
			</div>
			{list.length === 0 && <p class="hint">Nothing matches.</p>}
		</div>
	);
}
