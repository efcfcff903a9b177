import * as app from "../src/store/app.ts";
import { completions, isCompleted, wordStart } from "../src/store/completions.ts";
import { equal, test } from "./check.ts";
import { failure, FakeServer } from "./server.ts";

function connect(server: FakeServer): void {
	app.connection.value = server.caller as never;
}

test("the word before the caret is completed, and commands at the start only", () => {
	equal([wordStart("see @src/a", 10), wordStart("/co", 3), wordStart("a b", 1)], [4, 0, 0]);
	equal([isCompleted("@a", 4), isCompleted("$s", 9), isCompleted("/co", 0), isCompleted("/co", 4),
		isCompleted("word", 0)],
		[true, true, true, false, false]);
});

test("commands are read once, again after a failure, and one that a turn forbids has the reason", async () => {
	const server = new FakeServer().on("slashCommand/list", () => {
		throw failure("disconnected");
	});
	connect(server);
	await completions("/c", undefined, false).catch(() => undefined);
	server.on("slashCommand/list", () => [
		{ name: "compact", description: "d", availableDuringTurn: false }, { name: "copy", description: "e", availableDuringTurn: true },
		{ name: "undo", description: "f", availableDuringTurn: true },
	]);
	const found = await completions("/co", undefined, true);
	equal(found.map((c) => [c.insert, c.disabled ?? null]),
		[["/compact", "not available during a turn"], ["/copy", null]]);
	await completions("/u", undefined, false);
	equal(server.of("slashCommand/list").length, 2);
});

test("files are searched in the folder of the thread, and none without a folder", async () => {
	const server = new FakeServer().on("fuzzyFileSearch", () => ({ files: [{ path: "src/a.go" }] }));
	connect(server);
	equal(await completions("@a", undefined, false), []);
	equal((await completions("@a", "/w", false)).map((c) => [c.label, c.insert]), [["@src/a.go", "src/a.go"]]);
	equal(server.of("fuzzyFileSearch")[0], { query: "a", roots: ["/w"], cancellationToken: "composer" });
});

test("skills are found in any case", async () => {
	connect(new FakeServer().on("skills/list", () => ({ data: [{ skills: [{ name: "Deploy", description: "d" }, { name: "x", description: "" }] }] })));
	equal((await completions("$de", "/w", false)).map((c) => c.insert), ["$Deploy"]);
});
