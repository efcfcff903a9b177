import { files, linesOf, pairs, treeRows } from "../src/lib/patch.ts";
import { equal, test } from "./check.ts";

const diff = `diff --git a/src/a b.txt b/src/a b.txt
index 1..2 100644
--- a/src/a b.txt\t
+++ b/src/a b.txt\t
@@ -1,3 +1,4 @@ head
 one
-two
+2
+two and a half
 three
\\ No newline at end of file
diff --git "a/t\\303\\244b\\t\\"x\\".md" "b/t\\303\\244b\\t\\"x\\".md"
new file mode 100644
index 0..3
--- /dev/null
+++ "b/t\\303\\244b\\t\\"x\\".md"
@@ -0,0 +1,2 @@
+diff --git a/not b/a head
++++ plus
diff --git a/old.png b/new.png
similarity index 90%
rename from old.png
rename to new.png
index 1..2 100644
GIT binary patch
delta 3
+++ no lines
diff --git a/empty b/empty
deleted file mode 100644
index e69..000
`;

test("a diff is split into its files, with names, kinds and counts", () => {
	equal(files(diff).map((f) => [f.path, f.oldPath, f.kind, f.additions, f.deletions, f.binary]), [
		["src/a b.txt", null, "modified", 2, 1, false],
		["t\u00e4b\t\"x\".md", null, "created", 2, 0, false],
		["new.png", "old.png", "renamed", 0, 0, true],
		["empty", null, "deleted", 0, 0, false],
	]);
	equal(files(""), []);
});

test("a file that a cut diff lacks has counts and no text", () => {
	const list = files(diff, {
		files: [
			{ path: "gone", oldPath: null, kind: "modified", additions: 7, deletions: 8, binary: false },
			{ path: "src/a b.txt", oldPath: null, kind: "modified", additions: 2, deletions: 1, binary: false },
		],
	});
	equal(list.map((f) => [f.path, f.additions, f.text.length > 0]), [["gone", 7, false], ["src/a b.txt", 2, true]]);
});

test("lines of a diff have their numbers, and pairs put changes side by side", () => {
	const lines = linesOf(files(diff)[0]!.text);
	equal(lines.map((l) => [l.type, l.old, l.new]), [
		["hunk", 1, 1], ["same", 1, 1], ["del", 2, 0], ["add", 0, 2], ["add", 0, 3], ["same", 3, 4], ["note", 0, 0],
	]);
	equal(pairs(lines).map((p) => [p.left?.text ?? null, p.right?.text ?? null])
		.slice(2, 4), [["two", "2"], [null, "two and a half"]]);
});

test("a tree joins folders with one entry, and leaves out what is closed", () => {
	const list = ["a/b/c.go", "a/b/d.go", "z.md", "a/e/f/g.go"].map((path) => (
		{ path, oldPath: null, kind: "modified" as const, additions: 1, deletions: 2, binary: false }));
	equal(treeRows(list, new Set()).map((r) => [r.depth, r.name, r.count, r.additions]), [
		[0, "a", 3, 3], [1, "b", 2, 2], [2, "c.go", 1, 1], [2, "d.go", 1, 1], [1, "e/f", 1, 1], [2, "g.go", 1, 1],
		[0, "z.md", 1, 1],
	]);
	equal(treeRows(list, new Set(["a/"])).map((r) => r.path), ["a/", "z.md"]);
});
