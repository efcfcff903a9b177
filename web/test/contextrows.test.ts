import { nextRow, removedRows, rowsOf, turnNumbers } from "../src/store/contextrows.ts";
import { equal, test } from "./check.ts";
import { item } from "./server.ts";

const items = [item("sys", 0), item("a", 1, { turnId: "t1" }), item("b", 2, { turnId: "t1" }),
	item("c", 3, { turnId: "t2" })];
const rows = [...rowsOf(items, turnNumbers(items)), ...removedRows([{ id: "old" } as never], 3)];

test("items are grouped by turn, below a head with their number, and removed items come last", () => {
	equal(rows.map((r) => (r.kind === "turn" ? `turn ${r.number}: ${r.items.length}` : r.key)),
		["sys", "turn 1: 2", "a", "b", "turn 2: 1", "c", "removed", "removed:old"]);
	equal(removedRows([], 0), []);
});

test("keys move by rows, pages and turns, and stay inside of the list", () => {
	const key = (at: number, k: string) => nextRow(rows, at, k)?.replace(/:[^:]*$/, "");
	equal([key(2, "ArrowDown"), key(0, "ArrowUp"), key(3, "Home"), key(0, "PageDown")], ["b", "sys", "sys", "removed"]);
	equal([key(0, "j"), key(5, "j"), key(2, "k"), key(7, "j"), key(0, "x")],
		["turn:t1", "removed", "turn:t1", undefined, undefined]);
});
