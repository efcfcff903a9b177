// The server that windows share.

import { createHash } from "node:crypto";

/** nameLength is the number of characters of the name of an environment. */
const nameLength = 12;

/**
 * sharedArgs returns the arguments with which the program connects to the shared server, and starts it if none runs.
 * Windows whose settings have other variables have another server. CODEX_HOME does not count, because each home has
 * its own.
 */
export function sharedArgs(env: Readonly<Record<string, string>>, replace: boolean): string[] {
	const own = Object.entries(env).filter(([name]) => name !== "CODEX_HOME").sort(([a], [b]) => (a < b ? -1 : 1));
	const name = own.length === 0 ? "default"
		: createHash("sha256").update(JSON.stringify(own)).digest("hex").slice(0, nameLength);
	return ["--shared", name, ...(replace ? ["--replace"] : [])];
}
