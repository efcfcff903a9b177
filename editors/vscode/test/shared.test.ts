// The server that windows share.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedArgs } from "../src/shared.ts";

test("windows with the same variables share a server, in any order, and whatever the home", () => {
	assert.deepEqual(sharedArgs({}, false), ["--shared", "default"]);
	assert.deepEqual(sharedArgs({ CODEX_HOME: "/a" }, true), ["--shared", "default", "--replace"]);
	assert.deepEqual(sharedArgs({ A: "1", B: "2" }, false), sharedArgs({ B: "2", A: "1", CODEX_HOME: "/a" }, false));
});

test("windows with other variables have another server, whose name does not show them", () => {
	const environments: Record<string, string>[] = [{}, { KEY: "secret" }, { KEY: "other" }];
	const names = environments.map((env) => sharedArgs(env, false)[1]!);
	assert.equal(new Set(names).size, 3);
	assert.match(names[1]!, /^[0-9a-f]{12}$/);
});
