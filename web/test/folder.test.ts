import * as app from "../src/store/app.ts";
import { FolderChoice } from "../src/store/folder.ts";
import type { Connection } from "../src/wire/connection.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";
import { FakeServer } from "./server.ts";

const facts = (path: string) => ({ path, problem: null, trustFolder: path, trust: "trusted", projectFolders: [], repository: null });

test("a thread starts in the folder that was typed last, also if facts of a former path come late", async () => {
	const server = new FakeServer().on("thread/start", (p: { cwd: string }) => ({ thread: { id: "t", cwd: p.cwd } }));
	const before = app.connection.value;
	app.connection.value = server.caller as unknown as Connection;
	const reads = server.hold("folder/inspect");
	const choice = new FolderChoice("/w");
	choice.type("/w/a");
	await pass(100);
	choice.type("/w/ab");
	await reads[1]!.answer(facts("/w/a"));
	const started = choice.start();
	await settle();
	await reads[2]!.answer(facts("/w/ab"));
	equal(await started, true);
	equal(server.of("thread/start").map((p) => p["cwd"]), ["/w/ab"]);
	app.connection.value = before;
});
