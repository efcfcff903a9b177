import { ModelStore, presets } from "../src/store/models.ts";
import type { Connection } from "../src/wire/connection.ts";
import type { ServerNotification } from "../src/wire/types.ts";
import { equal, test } from "./check.ts";
import { settle } from "./environment.ts";
import { failure, FakeServer } from "./server.ts";

const provider = (id: string, ready: boolean, problem: string | null = null) => ({
	id, name: id, canEdit: false, baseUrl: "https://host/v1", keySource: "none", ready, problem,
	settings: { type: "customGateway", auth: { mode: "none" } },
});

/** make returns a store whose server has no provider that can be used. */
async function make() {
	const server = new FakeServer()
		.on("modelProvider/list", () => ({ data: [provider("openai", false, "needs a login")], defaultProviderId: "openai" }))
		.on("account/read", () => ({ account: null, requiresOpenaiAuth: true }))
		.on("model/list", () => ({ data: [], nextCursor: null }))
		.on("config/batchWrite", () => ({ status: "ok" }))
		.on("config/value/write", () => ({ status: "ok" }))
		.on("modelProvider/key/write", () => ({}))
		.on("model/provider/probe", () => ({ problem: null, test: { model: "m", text: "OK", durationMs: 7 } }));
	const store = new ModelStore();
	await store.opened(server.caller as unknown as Connection);
	server.calls.length = 0;
	return { server, store };
}

const methods = (server: FakeServer) => server.calls.map(([method]) => method)
	.filter((m) => !["modelProvider/list", "account/read", "model/list"].includes(m));

test("a model is tested before new threads use it", async () => {
	const { server, store } = await make();
	equal(store.problem.value, "needs a login");
	await store.choose("ollama", "m");
	equal(server.of("model/provider/probe"), [{ modelProvider: "ollama", model: "m", test: true }]);
	equal(server.of("config/batchWrite")[0]!.edits, [
		{ keyPath: "model_provider", value: "ollama", mergeStrategy: "replace" },
		{ keyPath: "model", value: "m", mergeStrategy: "replace" },
	]);
	equal(store.outcomes.value.get("ollama"), { state: "used", model: "m", answer: "OK", durationMs: 7 });
});

test("a model that does not answer is not used, and the reason is kept", async () => {
	const { server, store } = await make();
	server.on("model/provider/probe", () => ({ problem: { kind: "unreachable", message: "nothing listens", advice: "start it" }, test: null }));
	await store.choose("ollama", "m");
	equal(methods(server), ["model/provider/probe"]);
	equal(store.outcomes.value.get("ollama"), { state: "failed", problem: "nothing listens", advice: "start it" });
	server.on("model/provider/probe", () => {
		throw failure("invalidParams", "no such provider");
	});
	await store.choose("ollama", "m");
	equal(store.outcomes.value.get("ollama"), { state: "failed", problem: "no such provider", advice: "" });
});

test("a choice that another source overrides is reported", async () => {
	const { server, store } = await make();
	server.on("config/batchWrite", () => ({ status: "okOverridden", overriddenMetadata: { message: "the command line sets it" } }));
	await store.choose("ollama", "m");
	equal(store.outcomes.value.get("ollama"),
		{ state: "failed", problem: "The choice was saved, but has no effect: the command line sets it.", advice: "" });
});

test("a typed key goes to its store only, after the address of its provider", async () => {
	const { server, store } = await make();
	await store.storeKey(presets.find((p) => p.id === "groq")!, "secret-key");
	equal(methods(server), ["config/value/write", "modelProvider/key/write", "model/provider/probe", "config/batchWrite"]);
	const told = server.calls.filter(([, params]) => JSON.stringify(params).includes("secret-key")).map(([m]) => m);
	equal(told, ["modelProvider/key/write"]);
});

test("a key that is not stored is not used", async () => {
	const { server, store } = await make();
	server.on("modelProvider/key/write", () => {
		throw failure("account", "the disk is full");
	});
	await store.storeKey(presets.find((p) => p.id === "openrouter")!, "k");
	equal(methods(server).includes("config/batchWrite"), false);
	equal(store.outcomes.value.get("openrouter"), { state: "failed", problem: "the disk is full", advice: "" });
});

test("a login that succeeds uses the account, and one that fails says why", async () => {
	const { server, store } = await make();
	server.on("account/login/start", () => ({ type: "chatgpt", loginId: "l", authUrl: "https://auth.openai.com/" }));
	const completed = (params: object) =>
		store.notified({ method: "account/login/completed", params } as unknown as ServerNotification);
	await store.signIn("chatgpt");
	completed({ loginId: "l", success: false, error: "denied" });
	equal([store.login.value, store.loginFailure.value, methods(server)], [null, "denied", ["account/login/start"]]);
	await store.signIn("chatgpt");
	completed({ loginId: "another", success: true, error: null });
	equal(store.login.value?.loginId, "l");
	completed({ loginId: "l", success: true, error: null });
	await settle();
	equal(methods(server).slice(-1), ["config/batchWrite"]);
});

test("servers on this machine are shown when their providers are known, also if they answered before", async () => {
	const { server, store } = await make();
	server.on("model/list", () => ({ data: [{ id: "q", model: "q", modelProvider: "ollama", available: true }], nextCursor: null }));
	await store.find();
	equal(store.found.value, []);
	server.on("modelProvider/list", () => ({
		data: [{ ...provider("ollama", true), baseUrl: "http://127.0.0.1:11434/v1" }], defaultProviderId: "openai",
	}));
	await store.load();
	equal(store.found.value?.map((m) => m.model), ["q"]);
});
