// References to places of the editor, as the text of a message.

/** maxQuoted is the number of characters of a selection that a message quotes. A longer one is referred to only. */
const maxQuoted = 8000;
/** maxProblems is the number of diagnostics of a message. */
const maxProblems = 50;

/** Lines are numbered from 1, the last one included. */
export interface Lines {
	first: number;
	last: number;
}

/** Problem is a diagnostic of a file. */
export interface Problem {
	path: string;
	line: number;
	severity: "error" | "warning" | "information" | "hint";
	message: string;
	/** source is the program that found it, such as ts, with its code. It may be empty. */
	source: string;
}

/** shortPath returns a path relative to the folder of the thread, or the path itself if it is elsewhere. */
export function shortPath(path: string, folder: string): string {
	const separator = folder.includes("\\") ? "\\" : "/";
	const root = folder.endsWith(separator) ? folder : folder + separator;
	return folder !== "" && path.startsWith(root) ? path.slice(root.length).replaceAll("\\", "/") : path;
}

/** mention returns @path:12-30. A path with spaces is quoted. */
export function mention(path: string, lines: Lines | null): string {
	const name = /\s/.test(path) ? `"${path}"` : path;
	if (!lines) return `@${name}`;
	return `@${name}:${lines.first}${lines.last > lines.first ? `-${lines.last}` : ""}`;
}

/** fence returns a text as a code block. The fence is longer than each run of backticks in the text. */
function fence(text: string, language: string): string {
	const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
	const mark = "`".repeat(longest + 1);
	return `${mark}${/^[\w+#-]+$/.test(language) ? language : ""}\n${text.replace(/\n$/, "")}\n${mark}`;
}

/** selectionText returns the reference to a selection, and its text unless it is long. */
export function selectionText(path: string, lines: Lines, text: string, language: string): string {
	const reference = mention(path, lines);
	if (text.trim() === "" || text.length > maxQuoted) return reference;
	return `${reference}\n${fence(text.replaceAll("\r\n", "\n"), language)}`;
}

/** problemsText returns diagnostics, one a line. A message of several lines becomes one. */
export function problemsText(problems: readonly Problem[]): string {
	const lines = problems.slice(0, maxProblems).map((p) => {
		const message = p.message.replace(/\s+/g, " ").trim();
		return `${mention(p.path, { first: p.line, last: p.line })} ${p.severity}: ${message}${p.source && ` (${p.source})`}`;
	});
	const left = problems.length - lines.length;
	return [...lines, ...(left > 0 ? [`… ${left} more`] : [])].join("\n");
}
