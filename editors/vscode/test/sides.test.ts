// The two sides of a difference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sidesOf } from "../src/sides.ts";

const patch = `diff --git a/f b/f
--- a/f
+++ b/f
@@ -2,3 +2,3 @@
 two
-three
+THREE
 four
@@ -8,2 +8,1 @@
 eight
-nine
`;
const after = "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nten\n";

test("a file that has the lines of the change shows all of it before and after", () => {
	assert.deepEqual(sidesOf(patch, after),
		{ before: "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n", after, whole: true });
});

test("carriage returns stay", () => {
	const dos = (text: string) => text.replaceAll("\n", "\r\n");
	const { before, whole } = sidesOf(patch.replace(/^([ +-](?!--|\+\+)\w.*)$/gm, "$1\r"), dos(after));
	assert.equal(whole, true);
	assert.ok(before.includes("\r\nthree\r\nfour\r\n"));
});

test("a file that was changed since shows the lines of the difference alone", () => {
	const sides = { before: "two\nthree\nfour\n…\neight\nnine\n", after: "two\nTHREE\nfour\n…\neight\n", whole: false };
	assert.deepEqual(sidesOf(patch, after.replace("THREE", "3")), sides);
	assert.deepEqual(sidesOf(patch, "one"), sides);
});

test("created and deleted files have an empty side", () => {
	const made = "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n";
	assert.deepEqual(sidesOf(made, "a\nb\n"), { before: "", after: "a\nb\n", whole: true });
	const gone = "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
	assert.deepEqual(sidesOf(gone, null), { before: "a\nb\n", after: "", whole: false });
});

test("a hunk that only removes follows the line that it names", () => {
	assert.equal(sidesOf("--- a/f\n+++ b/f\n@@ -2,1 +1,0 @@\n-two\n", "one\nthree\n").before, "one\ntwo\nthree\n");
});
