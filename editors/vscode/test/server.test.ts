// The process of the server, with programs of node in its place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines, nextDelay, reasonOf, Server, type Command } from "../src/server.ts";

interface Event {
	kind: string;
	text: string;
}

/** Run is a server whose events can be awaited. */
class Run {
	private readonly events: Event[] = [];
	private wake: () => void = () => undefined;
	readonly server: Server;

	constructor(command: () => Command) {
		const add = (kind: string) => (text = "") => {
			this.events.push({ kind, text: String(text) });
			this.wake();
		};
		this.server = new Server(command, {
			started: add("started"), line: add("line"), log: () => undefined, missing: add("missing"), ended: add("ended"),
		});
	}

	/** next returns the text of the next event, which must be of a kind. */
	async next(kind: string): Promise<string> {
		while (this.events.length === 0) await new Promise<void>((wake) => (this.wake = wake));
		const event = this.events.shift()!;
		assert.equal(event.kind, kind, event.text);
		return event.text;
	}

	get left(): number {
		return this.events.length;
	}
}

const program = (script: string): Command =>
	({ path: process.execPath, args: ["-e", script], env: { GREETING: "hello" }, cwd: undefined });
const echo = `process.stdin.on("data", (d) => process.stdout.write(process.env.GREETING + " " + d)).on("end", () => process.exit(0))`;

test("lines are split wherever the bytes are, and empty ones are left out", () => {
	const got: string[] = [];
	const lines = new Lines((text) => got.push(text));
	for (const byte of Buffer.from("{\"a\":\"ä€\"}\r\n\n[1]\n{\"rest\"")) lines.write(Buffer.from([byte]));
	assert.deepEqual(got, ['{"a":"ä€"}', "[1]"]);
});

test("the delay doubles up to half a minute", () => {
	assert.deepEqual([0, 1, 2, 5, 6, 20].map(nextDelay), [500, 1000, 2000, 16000, 30000, 30000]);
});

test("the reason of an end has the status or the signal, and the last line of the errors", () => {
	assert.equal(reasonOf(1, null, "a\nconfig.toml: line 3\n"), "appserver ended with status 1: config.toml: line 3");
	assert.equal(reasonOf(null, "SIGKILL", ""), "appserver was ended by SIGKILL");
});

test("lines go to the program and come back, with the environment of the settings", async () => {
	const run = new Run(() => program(echo));
	run.server.start();
	await run.next("started");
	run.server.send("world");
	assert.equal(await run.next("line"), "hello world");
	await run.server.stop();
	assert.equal(run.left, 0);
	assert.equal(run.server.running, false);
});

test("a program that ends is started again, and its reason is shown", async () => {
	const scripts = [`console.error("no config"); process.exitCode = 3`, echo];
	const run = new Run(() => program(scripts.shift()!));
	run.server.start();
	await run.next("started");
	assert.equal(await run.next("ended"), "appserver ended with status 3: no config");
	await run.next("started");
	run.server.send("again");
	assert.equal(await run.next("line"), "hello again");
	await run.server.stop();
});

test("a missing program is reported once, and is tried again on demand", async () => {
	let path = "/does/not/exist";
	const run = new Run(() => ({ ...program(echo), path }));
	run.server.start();
	assert.match(await run.next("missing"), /ENOENT/);
	assert.equal(run.server.running, false);
	path = process.execPath;
	run.server.start();
	await run.next("started");
	await run.server.stop();
});
