// What completes the word before the caret: / commands, $ skills and @ files.

import { Once } from "../lib/once.ts";
import type { SlashCommand } from "../wire/types.ts";
import { visible } from "../lib/format.ts";
import * as app from "./app.ts";
import type { ThreadStore } from "./thread.ts";

/** Completion replaces a word. A disabled one has the reason instead. */
export interface Completion {
	label: string;
	detail: string;
	insert: string;
	disabled?: string;
}

const commands = new Once<readonly SlashCommand[]>(() => app.connection.value!.call("slashCommand/list", {}));

/** wordStart returns the start of the word at a position. */
export function wordStart(text: string, at: number): number {
	let i = at;
	while (i > 0 && !/\s/.test(text[i - 1]!)) i--;
	return i;
}

/** isCompleted reports whether a word can be completed. Commands are at the start of a message only. */
export function isCompleted(word: string, start: number): boolean {
	return /^[@$]/.test(word) || (word.startsWith("/") && start === 0);
}

/** completions returns what a word can become. running reports whether a turn is in progress. */
export function completions(word: string, cwd: string | undefined, running: boolean): Promise<Completion[]> {
	switch (word[0]) {
		case "/": return commandCompletions(word, running);
		case "$": return skillCompletions(word, cwd);
		default: return fileCompletions(word, cwd);
	}
}

async function commandCompletions(word: string, running: boolean): Promise<Completion[]> {
	const list = await commands.load();
	return list.filter((c) => `/${c.name}`.startsWith(word)).map((c) => ({
		label: `/${c.name}`, detail: c.description, insert: `/${c.name}`,
		...(running && !c.availableDuringTurn ? { disabled: "not available during a turn" } : {}),
	}));
}

async function skillCompletions(word: string, cwd: string | undefined): Promise<Completion[]> {
	const result = await app.connection.value!.call("skills/list", cwd ? { cwds: [cwd] } : {});
	const skills = result.data.flatMap((d) => d.skills);
	return skills.filter((s) => `$${s.name}`.toLowerCase().startsWith(word.toLowerCase()))
		.map((s) => ({ label: `$${s.name}`, detail: s.description, insert: `$${s.name}` }));
}

async function fileCompletions(word: string, cwd: string | undefined): Promise<Completion[]> {
	if (!cwd) return [];
	const found = await app.connection.value!.call("fuzzyFileSearch", {
		query: word.slice(1), roots: [cwd], cancellationToken: "composer",
	});
	return found.files.map((f) => ({ label: `@${f.path}`, detail: "", insert: f.path }));
}

/**
 * mention gives the paths of dropped files below the folder of the thread to add. The browser has their names only: a
 * file that is not found by its name, or more than once, is added by its name, and a notice says so.
 */
export async function mention(store: ThreadStore, files: readonly File[], add: (names: string) => void): Promise<void> {
	const cwd = store.settings.thread.value?.cwd;
	const unknown: string[] = [];
	const names = await Promise.all(files.map(async ({ name }) => {
		const search = { query: name, roots: cwd ? [cwd] : [], cancellationToken: null };
		const found = cwd ? await app.connection.value!.call("fuzzyFileSearch", search).catch(() => null) : null;
		const same = found?.files.filter((f) => f.file_name === name && f.match_type === "file") ?? [];
		if (same.length === 1) return same[0]!.path;
		unknown.push(visible(name));
		return name;
	}));
	if (names.length > 0) add(names.join(" "));
	if (unknown.length === 0) return;
	store.notices.add("warning", `The page has only the name of ${unknown.join(", ")}, and the folder of the thread has no file, or several, ` +
		"of that name. The name was added; the content was not sent.");
}
