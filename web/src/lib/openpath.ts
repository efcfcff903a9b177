// Paths of files in texts: which texts are paths, and what opens them.

import { visible } from "./format.ts";

/** PathPlace is a path with a line, or with 0. */
export interface PathPlace {
	path: string;
	line: number;
}

/** opener has the function that opens a path. The view of the thread sets it. */
export const opener = {
	open: (_place: PathPlace): void => undefined,
};

/** openPath opens a file at a line, in the editor that shows the page, or else in the page. */
export function openPath(path: string, line: number): void {
	opener.open({ path, line });
}

const longest = 300;
/** file matches the name of a file without a folder. Other words with a point are names of functions and members. */
const file = /^.+\.(?:bash|c|cc|conf|cpp|cs|css|csv|go|h|hpp|html?|ini|java|jsx?|json|kt|lock|lua|md|mjs|mod|php|png|proto|py|rb|rs|scss|sh|sql|sum|svg|swift|toml|tsx?|txt|xml|ya?ml)$/i;
const place = /^([^\s:#*?"'<>|\\$`(){}[\],;=&!]+?)(?::(\d+)(?::\d+)?|#L(\d+)(?:-L?\d+)?)?$/;

/** placeOf returns the path and the line that a text names, or null. A path has a folder or an extension. */
export function placeOf(text: string): PathPlace | null {
	if (text.length > longest || visible(text) !== text) return null;
	const [, path = "", colon, hash] = place.exec(text) ?? [];
	if (path === "" || /(^|\/)\.\.(\/|$)|\/\/|\/$/.test(path)) return null;
	if (!path.includes("/") && !file.test(path)) return null;
	return { path: path.replace(/^\.\//, ""), line: Number(colon ?? hash ?? 0) };
}

/** resolved returns a path below a folder, relative to the folder, or null for one that is not below it. */
export function resolved(path: string, folder: string): string | null {
	const parts: string[] = [];
	const below = path.startsWith("/") ? (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null) : path;
	if (below === null || folder === "") return null;
	for (const part of below.split("/")) {
		if (part === "..") return null;
		if (part !== "" && part !== ".") parts.push(part);
	}
	return parts.length > 0 ? parts.join("/") : null;
}
