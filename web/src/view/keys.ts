// Keys that work everywhere, and the list of all keys.

import * as app from "../store/app.ts";
import { dialog, openDialog } from "../store/dialog.ts";
import { showPanel, tabs } from "../store/panels.ts";
import { openRewind } from "./openrevert.tsx";

/** shortcuts are shown in the dialog. */
export const shortcuts: readonly [string, readonly [string, string][]][] = [
	["Everywhere", [
		["Ctrl+K", "commands and threads"], ["F6", "next region"], ["Ctrl+F", "find in messages"],
		["Alt+1 …", "tabs of the panel"], ["Alt+Q", "oldest question"], ["Ctrl+.", "interrupt the turn"], ["?", "this list"],
	]],
	["Message", [
		["Enter", "send or steer"], ["Shift+Enter", "new line"], ["↑", "last message, in an empty field"], ["Esc Esc", "rewind, in an empty field or outside of fields"],
	]],
	["Question, outside of fields", [["Y", "allow once"], ["S", "allow for this session"], ["N", "decline"], ["C", "decline and stop"]]],
	["Conversation", [["J K", "next, previous item"], ["[ ]", "previous, next turn"], ["G", "end"], ["E", "open or close"], ["X", "exclude or include"]]],
	["Context list", [
		["↑ ↓", "move; with Shift select"], ["J K", "next, previous turn"], ["Space", "include or exclude"], ["Del", "delete"], ["P", "pin"],
		["R", "replace"], ["Enter", "details"], ["Ctrl+Enter", "apply the plan"], ["O", "sort"], ["Backspace", "discard the plan"], ["/", "find"],
		["Ctrl+Z Ctrl+Y", "undo, redo"],
	]],
	["Changes", [["↑ ↓", "file or hunk; with Shift a line"], ["C", "comment on the line"], ["J K", "file"], ["→ ←", "open, close"]]],
];

const regions = [".threads input[type=search]", ".timeline [tabindex='0']", ".composer textarea", ".tab-panel [tabindex='0']"];

function typing(e: KeyboardEvent): boolean {
	return (e.target as HTMLElement).closest("input,textarea,select,[contenteditable]") !== null;
}

/** onGlobalKey handles the keys that work everywhere. */
export function onGlobalKey(e: KeyboardEvent): void {
	if (dialog.value) return;
	const store = app.current.value;
	const ctrl = e.ctrlKey || e.metaKey;
	if (e.key === "F6") {
		e.preventDefault();
		nextRegion(e.shiftKey ? -1 : 1);
	} else if (ctrl && e.key === "." && store) {
		e.preventDefault();
		void store.turns.interrupt().catch((error) => store.notices.report(error));
	} else if (ctrl && e.key === "k") {
		e.preventDefault();
		openDialog({ kind: "palette" });
	} else if (ctrl && e.key === "f" && store) {
		e.preventDefault();
		store.find.open.value = true;
	} else if (e.altKey && tabs[Number(e.key) - 1] && store) {
		e.preventDefault();
		showPanel(tabs[Number(e.key) - 1]!);
	} else if (e.altKey && e.key.toLowerCase() === "q") {
		e.preventDefault();
		document.querySelector<HTMLElement>("[data-question]")?.focus();
	} else if (ctrl && !typing(e) && store && (e.key === "z" || e.key === "y")) {
		e.preventDefault();
		void (e.key === "z" ? store.edits.undo() : store.edits.redo());
	} else if (e.key === "?" && !typing(e) && !ctrl) {
		openDialog({ kind: "keys" });
	} else if (e.key === "Escape" && store && !e.defaultPrevented) {
		if (!twice(e)) return;
		e.preventDefault(); // otherwise this press closes the dialog again
		openRewind(store);
	} else if (!ctrl && !e.altKey && !typing(e)) {
		answerQuestion(e);
	}
}

/** twiceMs is the longest time between two presses of Escape that belong together. */
const twiceMs = 800;
/** escape has the time of the last press of Escape that did nothing else. */
const escape = { at: -twiceMs };

/** twice reports whether Escape was pressed twice, in an empty message or outside of fields. */
function twice(e: KeyboardEvent): boolean {
	const message = (e.target as HTMLElement).closest<HTMLTextAreaElement>(".composer textarea");
	if (e.repeat || (message ? message.value.trim() !== "" : typing(e))) return false;
	const again = e.timeStamp - escape.at < twiceMs;
	escape.at = again ? -twiceMs : e.timeStamp;
	return again;
}

/** answerQuestion answers the question with the focus, or else the oldest one. */
function answerQuestion(e: KeyboardEvent): void {
	const question = (e.target as HTMLElement).closest("[data-question]") ?? document.querySelector("[data-question]");
	const button = question?.querySelector<HTMLButtonElement>(`[data-answer="${CSS.escape(e.key.toLowerCase())}"]`);
	if (!button || e.repeat || e.defaultPrevented || e.key === "") return;
	e.preventDefault();
	button.click();
}

function nextRegion(by: number): void {
	const found = regions.flatMap((selector) => {
		const el = document.querySelector<HTMLElement>(selector);
		return el ? [el] : [];
	});
	const at = found.findIndex((el) => el === document.activeElement ||
		el.parentElement?.closest(".scroll")?.contains(document.activeElement));
	found[(at + by + found.length) % found.length]?.focus();
}
