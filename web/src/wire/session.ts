// The session of the page: a one-use ticket from the address is exchanged for a token.

const storageKey = "appserver.token";

/** SessionError explains why the page has no token. */
export class SessionError extends Error {}

/** openSession returns the token of this tab. It removes the ticket from the address. */
export async function openSession(): Promise<string> {
	const ticket = new URLSearchParams(location.hash.slice(1)).get("ticket");
	if (ticket) {
		history.replaceState(null, "", location.pathname + location.search);
		const response = await fetch("/session", {
			method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify({ ticket }),
		});
		if (response.ok) {
			const body = (await response.json()) as { token: string };
			sessionStorage.setItem(storageKey, body.token);
			return body.token;
		}
	}
	const token = sessionStorage.getItem(storageKey);
	if (token) return token;
	throw new SessionError(ticket
		? "The ticket in the address is used or expired."
		: "This tab has no session.");
}

/** dropSession forgets a token that the server rejected. */
export function dropSession(): void {
	sessionStorage.removeItem(storageKey);
}
