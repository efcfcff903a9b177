// The program to start.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findProgram, type Machine } from "../src/program.ts";

const machine = (programs: readonly string[]): Machine => ({
	platform: "linux", home: "/home/me", env: { PATH: "/opt/tools:relative:/usr/bin" }, extension: "/ext",
	isProgram: (path) => programs.includes(path),
});

test("the program of the extension comes first, then PATH, then the usual folders", () => {
	const all = ["/home/me/.local/bin/appserver", "/opt/tools/appserver", "/ext/bin/appserver"];
	assert.equal(findProgram("appserver", machine(all)), "/ext/bin/appserver");
	assert.equal(findProgram("", machine(all.slice(0, 2))), "/opt/tools/appserver");
	assert.equal(findProgram(" appserver ", machine(all.slice(0, 1))), "/home/me/.local/bin/appserver");
	assert.equal(findProgram("appserver", machine([])), "appserver");
});

test("a path or a name of the settings is taken as it is", () => {
	const m = machine(["/ext/bin/appserver"]);
	assert.equal(findProgram("/opt/appserver", m), "/opt/appserver");
	assert.equal(findProgram("~/bin/appserver", m), "/home/me/bin/appserver");
	assert.equal(findProgram("ssh", m), "ssh");
});

test("a folder of PATH that is not absolute is left out", () => {
	assert.equal(findProgram("appserver", machine(["relative/appserver", "appserver"])), "appserver");
});
