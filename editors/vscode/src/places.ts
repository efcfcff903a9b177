// Files that the page names. Its texts come from models, so each path is checked.

import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, relative, resolve, sep } from "node:path";

/** Place is a line of a file, or a file if line is 0. Lines are numbered from 1. */
export interface Place {
	path: string;
	line: number;
}

/** placeOf returns the place that a message of the page names, or null if it is none. */
export function placeOf(message: unknown): Place | null {
	const { path, line } = (message ?? {}) as { path?: unknown; line?: unknown };
	if (typeof path !== "string" || path === "" || path.length > 4096 || path.includes("\0")) return null;
	const number = typeof line === "number" && Number.isSafeInteger(line) && line > 0 ? line : 0;
	return { path, line: number };
}

const isBelow = (path: string, folder: string): boolean => {
	const rest = relative(folder, path);
	return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
};

/**
 * findBelow returns the real path of a file that lies below one of the folders, or null. A relative path is looked up
 * in each of them. Links are followed first, so that none leads out.
 */
export function findBelow(path: string, folders: readonly string[]): string | null {
	const name = path.startsWith("~/") ? homedir() + path.slice(1) : path;
	const roots = folders.flatMap((f) => real(f) ?? []);
	for (const folder of isAbsolute(name) ? roots.slice(0, 1) : roots) {
		const found = real(resolve(folder, name));
		if (found !== null && roots.some((root) => isBelow(found, root))) return found;
	}
	return null;
}

function real(path: string): string | null {
	try {
		return realpathSync(path);
	} catch {
		return null;
	}
}
