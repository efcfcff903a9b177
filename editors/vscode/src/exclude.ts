// The items of the context that have the selection of an editor, or that read its file.

import type { ContextGetItemsResponse, ContextItem, ContextReadItemResponse, ContextSearchParams,
	ContextSearchResponse } from "../../../schema/ts/index.ts";
import { textOfParts } from "../../../web/src/lib/format.ts";
import type { Call } from "./rpc.ts";

/** maxQuery is the longest text that the server searches. */
const maxQuery = 1000;
const pageSize = 1000;

/** Selection is the text that the user selected in an editor. */
export interface Selection {
	/** text is the selected text. It may be empty. */
	text: string;
	/** path is the absolute path of the file, or empty. */
	path: string;
}

/** Found is an item that can be excluded. match is the text around the first match of the selection, or empty. */
export interface Found {
	item: ContextItem;
	match: string;
	reads: boolean;
}

/** Findings are the items that have a selection, at a revision of the context. */
export interface Findings {
	revision: number;
	found: readonly Found[];
}

const trimmed = (text: string): string => text.replace(/\r\n/g, "\n").trim();

/** queryOf returns the text to search. A longer selection is searched by its beginning, and its matches are read. */
export function queryOf(text: string): string {
	return [...trimmed(text)].slice(0, maxQuery).join("");
}

/** keepWhole removes the matches that have only the beginning of a selection. */
async function keepWhole(call: Call, threadId: string, text: string, matches: Map<string, string>): Promise<void> {
	for (const id of [...matches.keys()]) {
		const { sent, original }: ContextReadItemResponse = await call("context/readItem", { threadId, id });
		if (!textOfParts(sent ?? original).includes(text)) matches.delete(id);
	}
}

/**
 * pathPattern returns a regular expression for calls that name a file: by its absolute path, or by its path relative
 * to the folder of the thread. It returns an empty text if the pattern is too long.
 */
export function pathPattern(path: string, folder: string): string {
	const quote = (s: string) => s.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
	const below = folder !== "" && path.startsWith(`${folder}/`);
	const names = below ? `(?:\\./|${quote(folder)}/)?${quote(path.slice(folder.length + 1))}` : quote(path);
	const pattern = `(?:^|[\\s"'=:,(<>])${names}(?:$|[^\\w./-]|\\.(?:$|\\W))`;
	return [...pattern].length > maxQuery ? "" : pattern;
}

/** find returns the items of the next request that have the selection or read the file, in their order. */
export async function find(call: Call, threadId: string, folder: string, selection: Selection): Promise<Findings> {
	const { items, revision } = await list(call, threadId);
	const query = queryOf(selection.text);
	const matches = query === "" ? new Map<string, string>() : await search(call, { threadId, query, matchCase: true });
	if (query !== trimmed(selection.text)) await keepWhole(call, threadId, trimmed(selection.text), matches);
	const pattern = selection.path === "" ? "" : pathPattern(selection.path, folder);
	const calls = pattern === "" ? new Map<string, string>()
		: await search(call, { threadId, query: pattern, regex: true, matchCase: true, categories: ["toolCall"] });
	const reading = new Set(items.filter((i) => calls.has(i.id) && i.callId !== null).map((i) => i.callId));
	const found = items
		.filter((i) => i.inPrompt)
		.map((item) => ({ item, match: matches.get(item.id) ?? "", reads: item.callId !== null && reading.has(item.callId) }))
		.filter((f) => f.reads || matches.has(f.item.id));
	return { revision, found };
}

async function list(call: Call, threadId: string): Promise<{ items: ContextItem[]; revision: number }> {
	const items: ContextItem[] = [];
	let cursor: string | null = null;
	let revision: number | null = null; // of the first page: a later edit makes the exclusion stale
	do {
		const page: ContextGetItemsResponse = await call("context/getItems", { threadId, cursor, limit: pageSize });
		items.push(...page.items);
		revision ??= page.revision;
		cursor = page.nextCursor;
	} while (cursor !== null);
	return { items, revision: revision ?? 0 };
}

type Query = Omit<ContextSearchParams, "cursor" | "limit">;

/** search returns the items with a match, and the text around the first match of each. */
async function search(call: Call, query: Query): Promise<Map<string, string>> {
	const found = new Map<string, string>();
	let cursor: string | null = null;
	do {
		const page: ContextSearchResponse = await call("context/search", { ...query, cursor, limit: pageSize });
		for (const m of page.data) found.set(m.id, `${m.before}${m.match}${m.after}`);
		cursor = page.nextCursor;
	} while (cursor !== null);
	return found;
}
