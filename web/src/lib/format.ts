// Numbers, times and texts as people read them.

const tokens = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** count formats a number with separators of thousands. */
export const count = (n: number): string => tokens.format(n);

/** short formats a number in a few characters, such as 12.4K. */
export const short = (n: number): string => compact.format(n);

const money = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const smallMoney = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });

/** amount formats an amount of money without its currency. Amounts below 1 have two digits that are not zero. */
export const amount = (n: number): string => (Math.abs(n) < 1 && n !== 0 ? smallMoney : money).format(n);

/** percent formats a share between 0 and 1. */
export const percent = (share: number): string =>
	`${(share * 100).toFixed(share !== 0 && Math.abs(share) < 0.1 ? 1 : 0)} %`;

/** plural returns "1 item" or "3 items". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** age formats the time since seconds, a Unix time. */
export function age(seconds: number, now = Date.now()): string {
	const passed = Math.max(0, now / 1000 - seconds);
	if (passed < 60) return "now";
	if (passed < 3600) return `${Math.floor(passed / 60)} min`;
	if (passed < 86400) return `${Math.floor(passed / 3600)} h`;
	if (passed < 7 * 86400) return `${Math.floor(passed / 86400)} d`;
	return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** duration formats milliseconds. */
export function duration(ms: number): string {
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`; // 60.0 s is 1 min 0 s
	const seconds = Math.round(ms / 1000);
	return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** elapsed formats a time that runs: whole seconds, or whole minutes from the first one on. */
export function elapsed(ms: number): string {
	const seconds = Math.max(0, Math.floor(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** baseName returns the last part of a path. */
export const baseName = (path: string): string => path.replace(/\/+$/, "").split("/").pop() || path;

/** relative returns a path below a folder without the folder. */
export const relative = (path: string, folder: string): string =>
	folder !== "" && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;

// Bidirectional controls, zero-width characters and control characters can make a text look like
// another one.
const deceptive = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** visible replaces characters that are invisible or change the direction by their code points. */
export function visible(text: string): string {
	return text.replace(deceptive,
		(c) => `\u27e8U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}\u27e9`);
}

/** textOfParts returns the text of an item. A part without a text, such as an image, is an empty line. */
export const textOfParts = (parts: readonly { text?: string | null }[]): string =>
	parts.map((p) => p.text ?? "").join("\n");

/** firstLine returns the first line that is not empty, shortened to n characters. */
export function firstLine(text: string, n: number): string {
	const line = text.split("\n").find((l) => l.trim() !== "")?.trim() ?? "";
	const runes = [...line];
	return runes.length > n ? runes.slice(0, n).join("") + "…" : line;
}
