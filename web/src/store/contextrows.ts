// The rows of the list of context items.

import type { ContextItem, ContextMatch } from "../wire/types.ts";

/** pageRows is the number of rows that the keys for pages skip. */
const pageRows = 15;

/** RemovedRow is an item that is not in the list, or the head of these items. */
export type RemovedRow =
	| { key: string; kind: "removedHead"; count: number; shown: number }
	| { key: string; kind: "removed"; match: ContextMatch };

/** ContextRow is an item, or the head of the items of one turn. */
export type ContextRow =
	| { key: string; kind: "turn"; turnId: string; number: number; items: ContextItem[] }
	| ItemRow
	| RemovedRow;

/** ItemRow is an item. turn is the number of its turn if no head says it, or 0. */
export interface ItemRow {
	key: string;
	kind: "item";
	item: ContextItem;
	turn: number;
}

/** ListOrder is how the list of items is sorted. */
export type ListOrder = "turn" | "price" | "age";

/** listOrders are the orders, and their names. */
export const listOrders: readonly [ListOrder, string][] = [
	["turn", "by turn"], ["price", "by price"], ["age", "newest first"],
];

/** rowsOf returns the rows of items in an order. */
export function rowsOf(
	items: readonly ContextItem[], turnNumbers: ReadonlyMap<string, number>, order: ListOrder = "turn",
): ContextRow[] {
	if (order === "turn") return rowsByTurn(items, turnNumbers);
	const sorted = order === "price" ? [...items].sort((a, b) => b.tokens - a.tokens) : [...items].reverse();
	return sorted.map((item) =>
		({ key: item.id, kind: "item", item, turn: item.turnId ? turnNumbers.get(item.turnId) ?? 0 : 0 }));
}

/** rowsByTurn groups items by turn. Items without a turn come before the next turn's head. */
function rowsByTurn(items: readonly ContextItem[], turnNumbers: ReadonlyMap<string, number>): ContextRow[] {
	const rows: ContextRow[] = [];
	type Head = Extract<ContextRow, { kind: "turn" }>;
	let head = null as Head | null;
	for (const item of items) {
		if (item.turnId && item.turnId !== head?.turnId) {
			head = { key: `turn:${item.turnId}:${item.id}`, kind: "turn", turnId: item.turnId,
				number: turnNumbers.get(item.turnId) ?? 0, items: [] };
			rows.push(head);
		}
		if (item.turnId && head) head.items.push(item);
		rows.push({ key: item.id, kind: "item", item, turn: 0 });
	}
	return rows;
}

/** removedKey returns the key of the row of a removed item. */
export const removedKey = (id: string): string => `removed:${id}`;

/** removedRows returns the rows of removed items that match. total counts those that the answer lacks, too. */
export function removedRows(matches: readonly ContextMatch[], total: number): RemovedRow[] {
	if (total === 0) return [];
	return [
		{ key: "removed", kind: "removedHead", count: total, shown: matches.length },
		...matches.map((match) => ({ key: removedKey(match.id), kind: "removed" as const, match })),
	];
}

/** turnNumbers numbers the turns of the items, from 1. */
export function turnNumbers(items: readonly ContextItem[]): ReadonlyMap<string, number> {
	const numbers = new Map<string, number>();
	for (const i of items) if (i.turnId && !numbers.has(i.turnId)) numbers.set(i.turnId, numbers.size + 1);
	return numbers;
}

/** nextRow returns the key that a move by keys leads to, or undefined. */
export function nextRow(rows: readonly ContextRow[], at: number, key: string): string | undefined {
	const to = (i: number) => rows[Math.max(0, Math.min(rows.length - 1, i))]?.key;
	const turn = (by: number) => {
		for (let i = at + by; i >= 0 && i < rows.length; i += by) {
			if (rows[i]!.kind === "turn" || rows[i]!.kind === "removedHead") return rows[i]!.key;
		}
		return undefined;
	};
	switch (key) {
		case "ArrowDown": return to(at + 1);
		case "ArrowUp": return to(at - 1);
		case "Home": return to(0);
		case "End": return to(rows.length - 1);
		case "PageDown": return to(at + pageRows);
		case "PageUp": return to(at - pageRows);
		case "j": return turn(1);
		case "k": return turn(-1);
		default: return undefined;
	}
}
