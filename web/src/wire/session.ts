// The session of the page: a token, for a one-use ticket or for the signature of a remembered browser.

import { addServer, device, deviceId, nonce, proves, servers } from "./device.ts";
import { ofTab } from "./storage.ts";

const storageKey = "appserver.token";
/** unprovenKey has the token of a server that cannot remember this browser. The ticket has proved that it is ours. */
const unprovenKey = "appserver.unproven";
/** signedPrefix begins the text that a browser signs. */
const signedPrefix = "appserver device 1";

/** answerMs is the longest time that the page waits for an answer. */
const answerMs = 10_000;
const unreachable = "The server does not answer.";

/** SessionError explains why the page has no token. */
export class SessionError extends Error {}

/** RememberedBrowser is a browser that opens the page without a ticket. The times are in seconds since 1970. */
export interface RememberedBrowser {
	id: string;
	name: string;
	origin: string;
	created: number;
	lastUsed: number;
	current: boolean;
}

/** token returns the token of this tab, or an empty text. */
export const token = (): string => ofTab.getItem(storageKey) ?? "";

/**
 * openSession opens a session of this tab: by the ticket in the address, which it removes, by the token of the tab, or
 * by the key of the browser. It rejects with a SessionError. If the server remembers the browser, it calls remembered.
 */
export async function openSession(remembered: () => void): Promise<void> {
	const ticket = new URLSearchParams(location.hash.slice(1)).get("ticket");
	if (ticket !== null) history.replaceState(null, "", location.pathname + location.search);
	const problem = ticket === null ? "" : await redeem(ticket, remembered);
	if (ticket !== null && problem === "") return;
	if (token() !== "" && await answers(token()) !== 401) return;
	const signedIn = await signIn();
	if (signedIn === "open") return;
	dropSession();
	throw new SessionError(problem || {
		unreachable: unreachable,
		broken: "The server cannot read the browsers that it remembers: appserver web --devices shows the cause.",
		unknown: "The server does not know this browser any more.",
		stranger: "The program at this address is not a server that remembers this browser.",
		none: "This browser has no key and no ticket.",
	}[signedIn]);
}

/** renewSession opens another session if the server does not know the token. It returns whether the server refuses. */
export async function renewSession(): Promise<boolean> {
	if (await answers(token()) !== 401) return false;
	const signedIn = await signIn();
	return signedIn !== "open" && signedIn !== "unreachable";
}

/** answers returns the status of the server's answer to a token, or 0 without an answer. */
function answers(token: string): Promise<number> {
	const headers = { Authorization: `Bearer ${token}` };
	return ask("/session", { headers }).then((r) => r.status, () => 0);
}

/** redeem exchanges a ticket for a token. It returns why that failed, or an empty text. */
export async function redeem(ticket: string, remembered: () => void): Promise<string> {
	const response = await post("/session", { ticket }).catch(() => null);
	if (!response) return unreachable;
	if (response.status === 403) return "The ticket is used, expired or wrong.";
	if (!response.ok) return `The server refuses the ticket with the status ${response.status}.`;
	const session = await response.json() as { token: string; remember: boolean };
	ofTab.setItem(storageKey, session.token);
	if (!session.remember || !await remember(remembered)) ofTab.setItem(unprovenKey, session.token);
	return "";
}

/**
 * remember gives the server the public key of this browser, and keeps the one of the server. It returns whether both
 * are stored. Without it, the session ends with the server.
 */
async function remember(remembered: () => void): Promise<boolean> {
	const key = await device(true);
	if (!key) return false;
	const body = { name: browserName(navigator.userAgent), key: key.publicKey };
	const response = await post("/devices", body).catch(() => null);
	if (!response?.ok) return false;
	await addServer((await response.json() as { server: string }).server);
	if (response.status === 201) remembered();
	return true;
}

/** BrokenError means that the server answers with an error of its own. */
class BrokenError extends Error {}

/**
 * challenge returns a text to sign, or null if the program at this address is not a server that has remembered this
 * browser. It rejects without an answer, and with a BrokenError. A browser that no server has remembered accepts each.
 */
async function challenge(): Promise<string | null> {
	const random = nonce();
	const known = await servers();
	const response = await ask("/challenge", {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ nonce: random }),
	});
	if (!response.ok) throw new BrokenError();
	const asked = await response.json() as { challenge: string; proof: string };
	return known.length === 0 || await proves(known, asked.proof, random, asked.challenge) ? asked.challenge : null;
}

/** isServer reports whether a server is at this address, and not a program that this browser does not know. */
export async function isServer(): Promise<boolean> {
	if (ofTab.getItem(unprovenKey) === token()) return true;
	try {
		return (await servers()).length === 0 || await challenge() !== null;
	} catch {
		return false;
	}
}

/** signIn opens a session by the key of this browser. */
async function signIn(): Promise<"open" | "none" | "unknown" | "stranger" | "broken" | "unreachable"> {
	const key = await device(false);
	if (!key) return "none";
	try {
		const text = await challenge();
		if (text === null) return "stranger";
		const signature = await key.sign([signedPrefix, location.origin, text].join("\n"));
		const response = await post("/session", { device: await deviceId(key.publicKey), challenge: text, signature });
		if (response.status === 403) return "unknown";
		if (!response.ok) return "broken";
		const session = await response.json() as { token: string };
		ofTab.setItem(storageKey, session.token);
		return "open";
	} catch (error) {
		return error instanceof BrokenError ? "broken" : "unreachable";
	}
}

/** ask sends a request. It rejects without an answer in time. */
function ask(path: string, init: RequestInit): Promise<Response> {
	return fetch(path, { ...init, cache: "no-store", signal: AbortSignal.timeout(answerMs) });
}

function post(path: string, body: object): Promise<Response> {
	return ask(path, {
		method: "POST",
		headers: { "Content-Type": "application/json", Authorization: `Bearer ${token()}` },
		body: JSON.stringify(body),
	});
}

/** browserName returns a name for a browser, by which users find it in a list. */
export function browserName(userAgent: string): string {
	const browsers: [RegExp, string][] = [
		[/Firefox\//, "Firefox"], [/Edg\//, "Edge"], [/OPR\//, "Opera"], [/Chrom(e|ium)\//, "Chrome"], [/Safari\//, "Safari"],
	];
	const systems: [RegExp, string][] = [
		[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/Mac OS X/, "macOS"], [/CrOS/, "ChromeOS"],
		[/Linux/, "Linux"],
	];
	const find = (table: [RegExp, string][], otherwise: string) =>
		table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? otherwise;
	return `${find(browsers, "Browser")} on ${find(systems, "an unknown system")}`;
}

/** readBrowsers returns the remembered browsers. */
export async function readBrowsers(): Promise<RememberedBrowser[]> {
	const response = await ask("/devices", { headers: { Authorization: `Bearer ${token()}` } });
	if (!response.ok) throw new Error((await response.text()).trim());
	return (await response.json() as { devices: RememberedBrowser[] }).devices;
}

/** forgetBrowser ends the sessions of a remembered browser, which then needs a ticket. */
export async function forgetBrowser(id: string): Promise<void> {
	const response = await ask(`/devices?id=${encodeURIComponent(id)}`, {
		method: "DELETE",
		headers: { Authorization: `Bearer ${token()}` },
	});
	if (!response.ok && response.status !== 401) throw new Error((await response.text()).trim());
}

/** dropSession forgets a token that the server rejected. */
export function dropSession(): void {
	ofTab.removeItem(storageKey);
}
