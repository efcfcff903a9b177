// The way into the page for a browser that the server does not know.

import * as app from "./app.ts";
import { redeem } from "../wire/session.ts";

/** mark is before the ticket in an address. */
const mark = "#ticket=";

/** ticketIn returns the ticket in a text, which is a ticket or an address of this page, or else the problem. */
export function ticketIn(text: string, origin: string): { ticket: string } | { problem: string } {
	const pasted = text.trim();
	const at = pasted.indexOf(mark);
	const ticket = at < 0 ? pasted : pasted.slice(at + mark.length);
	if (at >= 0 && pasted.slice(0, at).replace(/\/$/, "") !== origin) {
		return { problem: "This is the address of another page. Open it in the address bar of the browser, and paste it nowhere else." };
	}
	if (!/^[A-Z2-7]{26}$/.test(ticket)) return { problem: "This is no ticket. Paste the whole line that the command printed." };
	return { ticket };
}

/** enter opens a session with a pasted ticket or address, and connects. It returns the problem, or an empty text. */
export async function enter(text: string): Promise<string> {
	const found = ticketIn(text, location.origin);
	if ("problem" in found) return found.problem;
	const problem = await redeem(found.ticket, app.remembered);
	if (problem !== "") return `${problem} Run the command again, and paste the new address.`;
	app.sessionFailure.value = "";
	if (app.connection.value) app.connection.value.retry();
	else await app.start();
	return "";
}

/**
 * watchAddress takes a ticket that the user adds to the address of the open page. The browser does not load the page
 * again then. A page with a session needs no ticket.
 */
export function watchAddress(): void {
	window.addEventListener("hashchange", () => {
		if (!location.hash.startsWith(mark)) return;
		const address = location.origin + "/" + location.hash;
		history.replaceState(null, "", location.pathname + location.search);
		if (app.sessionFailure.value === "") return;
		void enter(address).then((problem) => {
			if (problem !== "") app.sessionFailure.value = problem;
		});
	});
}
