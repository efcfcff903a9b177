// Files that the page names.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findBelow, placeOf } from "../src/places.ts";

test("a place needs a path, and a line that is none is left out", () => {
	assert.deepEqual(placeOf({ path: "a.ts", line: 3 }), { path: "a.ts", line: 3 });
	for (const line of [0, -1, 1.5, "3", null, NaN, 1e300]) {
		assert.deepEqual(placeOf({ path: "a", line }), { path: "a", line: 0 });
	}
	for (const message of [null, 1, {}, { path: 1 }, { path: "" }, { path: "a\0b" }, { path: "x".repeat(5000) }]) {
		assert.equal(placeOf(message), null);
	}
});

test("files of the folders are found, by relative and absolute paths, and no others", (t) => {
	const top = realpathSync(mkdtempSync(join(tmpdir(), "places-")));
	t.after(() => rmSync(top, { recursive: true }));
	const [one, two] = [join(top, "one"), join(top, "two")];
	for (const folder of [join(one, "src"), two, join(top, "one-more")]) mkdirSync(folder, { recursive: true });
	for (const file of ["one/src/a.ts", "two/b.ts", "secret", "one-more/c.ts", "one/..d"]) {
		writeFileSync(join(top, file), "");
	}
	symlinkSync(join(top, "secret"), join(one, "link"));
	symlinkSync(join(one, "src"), join(two, "src"));
	const find = (path: string) => findBelow(path, [one, two]);
	assert.equal(find("src/a.ts"), join(one, "src", "a.ts"));
	assert.equal(find("b.ts"), join(two, "b.ts"));
	assert.equal(find(join(two, "src", "a.ts")), join(one, "src", "a.ts"));
	assert.equal(find("..d"), join(one, "..d"));
	assert.equal(find(one), one);
	const outside = ["missing", "../secret", join(top, "secret"), "link", join(one, "link"), "../one-more/c.ts", "/etc/passwd", "~/"];
	for (const path of outside) {
		assert.equal(find(path), null, path);
	}
	assert.equal(findBelow(join(one, "src", "a.ts"), []), null);
	assert.equal(findBelow("src/a.ts", [join(top, "nowhere"), one]), join(one, "src", "a.ts"));
});
