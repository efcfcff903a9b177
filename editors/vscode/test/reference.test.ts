// References to places of the editor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mention, problemsText, selectionText, shortPath, type Problem } from "../src/reference.ts";

test("paths are relative to the folder of the thread, if they are in it", () => {
	assert.equal(shortPath("/src/app/src/a.ts", "/src/app"), "src/a.ts");
	assert.equal(shortPath("/src/app/src/a.ts", "/src/app/"), "src/a.ts");
	assert.equal(shortPath("/src/apple/a.ts", "/src/app"), "/src/apple/a.ts");
	assert.equal(shortPath("C:\\app\\src\\a.ts", "C:\\app"), "src/a.ts");
	assert.equal(shortPath("/a", ""), "/a");
});

test("a reference has the lines, and a path with spaces is quoted", () => {
	assert.equal(mention("src/a.ts", { first: 12, last: 30 }), "@src/a.ts:12-30");
	assert.equal(mention("src/a.ts", { first: 12, last: 12 }), "@src/a.ts:12");
	assert.equal(mention("my notes.md", null), '@"my notes.md"');
});

test("a selection is quoted in a block that it cannot end, unless it is long or empty", () => {
	const lines = { first: 1, last: 2 };
	assert.equal(selectionText("a.ts", lines, "let a;\r\nlet b;\n", "typescript"), "@a.ts:1-2\n```typescript\nlet a;\nlet b;\n```");
	assert.equal(selectionText("a.md", lines, "````\nx\n````", "mark down"), "@a.md:1-2\n`````\n````\nx\n````\n`````");
	for (const text of ["x".repeat(8001), " \n"]) assert.equal(selectionText("a.ts", lines, text, "x"), "@a.ts:1-2");
});

test("diagnostics have a line each, and not more than fifty", () => {
	const problem = (line: number): Problem => ({ path: "a.ts", line, severity: "error", message: "no\n  such name", source: "ts 2304" });
	assert.equal(problemsText([problem(3)]), "@a.ts:3 error: no such name (ts 2304)");
	const lines = problemsText(Array.from({ length: 60 }, (_, i) => problem(i + 1))).split("\n");
	assert.equal(lines.length, 51);
	assert.equal(lines.at(-1), "… 10 more");
});
