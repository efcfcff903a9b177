import { openTransport, showContextEvent, type FromEditor, type ToEditor } from "../src/wire/transport.ts";
import { equal, test } from "./check.ts";

test("a page in an editor sends messages to the extension, and ignores those of former links", async () => {
	const sent: ToEditor[] = [];
	const states: unknown[] = [];
	const page = globalThis as unknown as Record<string, unknown>;
	const editor = {
		postMessage: (m: ToEditor) => sent.push(m), getState: () => undefined, setState: (s: unknown) => states.push(s),
	};
	page["acquireVsCodeApi"] = () => editor;
	const transport = await openTransport(() => undefined);
	delete page["acquireVsCodeApi"];
	const got: string[] = [];
	const events = (name: string) => ({
		opened: () => got.push(`${name} opened`), message: (text: string) => got.push(`${name} ${text}`),
		closed: () => got.push(`${name} closed`),
	});
	const receive = (m: FromEditor) => window.dispatchEvent(new MessageEvent("message", { data: m }));
	const first = transport.open(events("first"));
	receive({ kind: "opened", link: 1 });
	receive({ kind: "message", link: 1, text: "a" });
	first.send("b");
	receive({ kind: "closed", link: 1 });
	transport.open(events("second"));
	receive({ kind: "message", link: 1, text: "late" });
	receive({ kind: "opened", link: 2 });
	equal(got, ["first opened", "first a", "first closed", "second opened"]);
	equal(sent, [{ kind: "open", link: 1 }, { kind: "message", link: 1, text: "b" }, { kind: "open", link: 2 }]);

	let shown = 0;
	window.addEventListener(showContextEvent, () => shown++);
	const changed = new Promise((done) => window.addEventListener("hashchange", done, { once: true }));
	receive({ kind: "show", hash: "#/thread/x", context: true });
	await changed;
	equal([location.hash, shown, states], ["#/thread/x", 1, [{ hash: "#/thread/x" }]]);
});
