import { Connection, type Handlers } from "../src/wire/connection.ts";
import type { LinkEvents, Transport } from "../src/wire/transport.ts";
import { equal, test } from "./check.ts";
import { pass, settle } from "./environment.ts";

/** Wire is a transport whose events a test makes. */
class Wire implements Transport {
	readonly sent: { id?: number; method?: string }[] = [];
	readonly links: LinkEvents[] = [];
	known = true;

	open(events: LinkEvents) {
		this.links.push(events);
		return { send: (text: string) => void this.sent.push(JSON.parse(text)), close: () => events.closed() };
	}

	refused(): Promise<boolean> {
		return Promise.resolve(!this.known);
	}

	get link(): LinkEvents {
		return this.links.at(-1)!;
	}

	message(m: object): void {
		this.link.message(JSON.stringify(m));
	}
}

function connect(handlers: Partial<Handlers> = {}) {
	const wire = new Wire();
	const c = new Connection(wire, {
		opened: () => Promise.resolve(), notification: () => undefined, request: () => undefined, ...handlers,
	});
	c.connect();
	return { wire, c };
}

const kindOf = (p: Promise<unknown>) => p.then(() => "", (e: { kind: string }) => e.kind);

test("responses reach their requests in any order, and errors have their kind", async () => {
	const { wire, c } = connect();
	wire.link.opened();
	const first = c.call("thread/loaded/list" as never, {} as never);
	const second = kindOf(c.call("thread/loaded/list" as never, {} as never));
	wire.message({ id: 2, error: { code: -32600, message: "no", data: { kind: "busy" } } });
	wire.message({ id: 99, result: "nobody asked" });
	wire.message({ id: 1, result: "yes" });
	equal([await first, await second], ["yes", "busy"]);
});

test("a lost connection fails the open requests and those that follow, and connects again after a time that grows", async () => {
	let opened = 0;
	const { wire, c } = connect({ opened: async () => void opened++ });
	wire.link.opened();
	await settle();
	const open = kindOf(c.call("thread/list" as never, {} as never));
	wire.link.closed();
	equal([await open, await kindOf(c.call("thread/list" as never, {} as never))], ["disconnected", "disconnected"]);
	equal([c.state.value, wire.links.length], ["waiting", 1]);
	await pass(250);
	equal([c.state.value, wire.links.length], ["connecting", 2]);
	wire.link.closed();
	await pass(250);
	equal(wire.links.length, 2);
	await pass(250);
	wire.link.opened();
	await settle();
	equal([c.state.value, wire.links.length, opened], ["open", 3, 2]);
});

test("messages of a former link are not handled, and their responses do not answer new requests", async () => {
	const seen: string[] = [];
	const { wire, c } = connect({ notification: (n) => seen.push(n.method) });
	wire.link.opened();
	await settle();
	wire.message({ method: "late" });
	wire.link.closed();
	await pass(300);
	equal([seen, c.state.value], [[], "connecting"]);
	wire.link.opened();
	await settle();
	wire.links[0]!.closed(); // late
	equal(c.state.value, "open");
});

test("a session that was never accepted is rejected, also one that the restarted server does not know", async () => {
	const never = connect();
	never.wire.link.closed();
	equal(never.c.state.value, "rejected");
	const { wire, c } = connect();
	wire.link.opened();
	await settle();
	wire.known = false;
	wire.link.closed();
	await pass(250);
	wire.link.closed();
	await settle();
	equal(c.state.value, "rejected");
	await pass(60_000);
	equal(wire.links.length, 2);
	c.retry();
	equal(wire.links.length, 3);
});

test("notifications and requests of the server come in their order, after the handshake was sent", async () => {
	const seen: string[] = [];
	const { wire, c } = connect({
		opened: async () => void seen.push("opened"), notification: (n) => seen.push(n.method), request: (r) =>
			seen.push(`${r.method} ${r.id}`),
	});
	wire.link.opened();
	wire.message({ method: "a" });
	wire.message({ id: 5, method: "ask" });
	wire.message({ method: "b" });
	await pass(20);
	equal(seen, ["opened", "a", "ask 5", "b"]);
	c.answer(5, { ok: true });
	equal(wire.sent, [{ jsonrpc: "2.0", id: 5, result: { ok: true } }]);
});

test("a server that ends each introduction is asked again after times that grow", async () => {
	const { wire, c } = connect({ opened: () => Promise.reject(new Error("not now")) });
	wire.link.opened();
	await settle();
	for (const ms of [250, 500, 1000, 2000, 4000, 8000, 8000]) {
		const links = wire.links.length;
		equal(c.state.value, "waiting");
		await pass(ms - 1);
		equal(wire.links.length, links);
		await pass(1);
		equal(wire.links.length, links + 1);
		wire.link.opened();
		await settle();
	}
});
