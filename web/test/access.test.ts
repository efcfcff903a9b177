import { ticketIn } from "../src/store/access.ts";
import { browserName, redeem, renewSession } from "../src/wire/session.ts";
import { equal, test } from "./check.ts";
import { pass } from "./environment.ts";

const origin = "http://127.0.0.1:20510";
const ticket = "ABCDEFGHIJKLMNOPQRSTUVWX23";
const isTicket = (text: string) => "ticket" in ticketIn(text, origin);

test("a pasted ticket is taken from the address of this page, or alone, but not from an address of another page", () => {
	for (const text of [ticket, ` ${ticket}\n`, `${origin}/#ticket=${ticket}`, `${origin}#ticket=${ticket}`]) {
		equal(ticketIn(text, origin), { ticket });
	}
	for (const other of ["http://127.0.0.1:20511", "http://localhost:20510", "https://127.0.0.1:20510", "x", `${origin}.evil.example`]) {
		equal(isTicket(`${other}/#ticket=${ticket}`), false);
	}
	for (const text of ["", "x", ticket.slice(1), `${ticket}A`, ticket.toLowerCase(), origin, `${origin}/#ticket=`]) {
		equal(isTicket(text), false);
	}
});

test("a browser has a name that users know", () => {
	const names = [
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36", "curl",
	].map(browserName);
	equal(names, ["Firefox on Linux", "Edge on Windows", "Safari on macOS", "Chrome on Android", "Browser on an unknown system"]);
});

/** answerBy replaces fetch. A request fails at its time limit, unless it is answered. */
function answerBy(answer: (path: string) => object | null): void {
	const timeout = (ms: number) => ({ then: (run: () => void) => setTimeout(run, ms) });
	const fetch = (path: string, init: { signal: ReturnType<typeof timeout> }) =>
		new Promise((resolve, reject) => {
			const response = answer(path);
			if (response) resolve(response);
			else init.signal.then(() => reject(new Error("the time is over")));
		});
	Object.assign(globalThis, { fetch, AbortSignal: { timeout } });
}

test("a page waits for a server that never answers only for a time", async () => {
	answerBy(() => null);
	let problem = "";
	let refused: boolean | null = null;
	void redeem(ticket, () => undefined).then((p) => (problem = p));
	void renewSession().then((r) => (refused = r));
	await pass(9_000);
	equal([problem, refused], ["", null]);
	await pass(1_000);
	equal([problem, refused], ["The server does not answer.", false]);
});

test("a refused ticket has the reason of the server's status", async () => {
	const problems = [];
	for (const status of [403, 421, 500]) {
		answerBy(() => ({ ok: false, status }));
		problems.push(await redeem(ticket, () => undefined));
	}
	equal(problems, ["The ticket is used, expired or wrong.", "The server refuses the ticket with the status 421.",
		"The server refuses the ticket with the status 500."]);
});
