// Diffs in git's form: the files of a diff, and the lines of a file.

/** ChangedFile is a file of a diff with its counts. */
export interface ChangedFile {
	path: string;
	oldPath: string | null;
	kind: "created" | "deleted" | "modified" | "renamed";
	additions: number;
	deletions: number;
	binary: boolean;
}

/** FilePatch is a file of a diff. Its text is "" if the diff has only its counts. */
export interface FilePatch extends ChangedFile {
	text: string;
}

/** DiffLine is a line of a diff. */
export interface DiffLine {
	type: "hunk" | "same" | "add" | "del" | "note";
	text: string;
	/** old and new are numbers of lines, 0 where the line is not in that form. */
	old: number;
	new: number;
}

/** LinePair is a row of a split view. */
export interface LinePair {
	left: DiffLine | null;
	right: DiffLine | null;
}

const head = "diff --git ";

/** files returns the files of a diff. The summary has the counts; without one they are counted. */
export function files(diff: string, summary?: { files: readonly ChangedFile[] }): FilePatch[] {
	const parts = split(diff);
	if (!summary) return parts.map((text) => ({ ...describe(text), text }));
	const texts = new Map<string, string[]>();
	for (const text of parts) {
		const { path } = describe(text, false);
		texts.set(path, [...(texts.get(path) ?? []), text]);
	}
	return summary.files.map((f) => ({ ...f, text: texts.get(f.path)?.shift() ?? "" }));
}

/** split returns the text of each file. Lines of files have a prefix, so no line of a file begins like a head. */
function split(diff: string): string[] {
	const parts: string[] = [];
	let start = diff.startsWith(head) ? 0 : diff.indexOf(`\n${head}`) + 1;
	if (start === 0 && !diff.startsWith(head)) return parts;
	while (start < diff.length) {
		const next = diff.indexOf(`\n${head}`, start);
		const end = next < 0 ? diff.length : next + 1;
		parts.push(diff.slice(start, end));
		start = end;
	}
	return parts;
}

function describe(text: string, counted = true): ChangedFile {
	const file: ChangedFile = { path: "", oldPath: null, kind: "modified", additions: 0, deletions: 0, binary: false };
	let at = 0;
	let body = false;
	let before = "";
	for (const line of lines(text)) {
		if (!body) {
			if (line.startsWith("@@") || line === "GIT binary patch" || line.startsWith("Binary files ")) {
				body = true;
				file.binary = !line.startsWith("@@");
				if (!counted) break;
			} else if (line.startsWith("new file mode")) file.kind = "created";
			else if (line.startsWith("deleted file mode")) file.kind = "deleted";
			else if (line.startsWith("rename from ")) {
				file.kind = "renamed";
				file.oldPath = unquote(line.slice(12));
			} else if (line.startsWith("rename to ")) file.path = unquote(line.slice(10));
			else if (line.startsWith("--- ")) before = pathOf(line.slice(4));
			else if (line.startsWith("+++ ")) file.path = pathOf(line.slice(4)) || before;
		} else if (!file.binary && line.startsWith("+")) file.additions++;
		else if (!file.binary && line.startsWith("-")) file.deletions++;
		at++;
	}
	if (file.path === "" && at > 0) file.path = pathOfHead(text.slice(head.length, text.indexOf("\n")));
	return file;
}

/** pathOf returns a path without its prefix, or "" for /dev/null. */
function pathOf(name: string): string {
	const path = unquote(name.replace(/\t$/, ""));
	return path === "/dev/null" ? "" : path.slice(2);
}

/** pathOfHead returns the path of "a/PATH b/PATH". A file without other heads has the same path twice. */
function pathOfHead(names: string): string {
	return pathOf(names.slice((names.length + 1) / 2));
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** unquote decodes a path that git quoted because of special characters. */
function unquote(name: string): string {
	if (!name.startsWith('"') || !name.endsWith('"')) return name;
	const bytes: number[] = [];
	const encoder = new TextEncoder();
	for (const [, octal, escape, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\([\s\S])|([^\\]+)/g)) {
		if (octal) bytes.push(parseInt(octal, 8));
		else if (escape) bytes.push(escapes[escape] ?? escape.charCodeAt(0));
		else bytes.push(...encoder.encode(plain));
	}
	return new TextDecoder().decode(new Uint8Array(bytes));
}

function* lines(text: string): Generator<string> {
	for (let at = 0; at < text.length;) {
		const end = text.indexOf("\n", at);
		yield text.slice(at, end < 0 ? text.length : end);
		at = end < 0 ? text.length : end + 1;
	}
}

/** linesOf returns the lines of a file with their numbers. */
export function linesOf(text: string): DiffLine[] {
	const list: DiffLine[] = [];
	let [before, after] = [0, 0];
	let body = false;
	for (const line of lines(text)) {
		const hunk = line.startsWith("@@") ? /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) : null;
		if (hunk) {
			body = true;
			[before, after] = [Number(hunk[1]), Number(hunk[2])];
			list.push({ type: "hunk", text: line, old: before, new: after });
		} else if (!body) continue;
		else if (line.startsWith("+")) list.push({ type: "add", text: line.slice(1), old: 0, new: after++ });
		else if (line.startsWith("-")) list.push({ type: "del", text: line.slice(1), old: before++, new: 0 });
		else if (line.startsWith("\\")) list.push({ type: "note", text: line.slice(2), old: 0, new: 0 });
		else list.push({ type: "same", text: line.slice(1), old: before++, new: after++ });
	}
	return list;
}

/** pairs puts removed lines beside the added ones that follow them. */
export function pairs(list: readonly DiffLine[]): LinePair[] {
	const rows: LinePair[] = [];
	let removed: DiffLine[] = [];
	let added: DiffLine[] = [];
	const flush = () => {
		for (let i = 0; i < Math.max(removed.length, added.length); i++) {
			rows.push({ left: removed[i] ?? null, right: added[i] ?? null });
		}
		[removed, added] = [[], []];
	};
	for (const line of list) {
		if (line.type === "del") {
			if (added.length > 0) flush();
			removed.push(line);
		} else if (line.type === "add") added.push(line);
		else {
			flush();
			rows.push({ left: line, right: line });
		}
	}
	flush();
	return rows;
}

/** TreeRow is a folder, or a file at the end of its folder. Folders with one entry are joined. */
export interface TreeRow<F> {
	path: string;
	name: string;
	depth: number;
	/** file is null for a folder. */
	file: F | null;
	count: number;
	additions: number;
	deletions: number;
}

interface Folder<F> {
	folders: Map<string, Folder<F>>;
	files: F[];
}

/** treeRows arranges files by folder. The entries of closed folders are left out. */
export function treeRows<F extends ChangedFile>(list: readonly F[], closed: ReadonlySet<string>): TreeRow<F>[] {
	const root: Folder<F> = { folders: new Map(), files: [] };
	for (const f of list) {
		let at = root;
		for (const part of f.path.split("/").slice(0, -1)) {
			let next = at.folders.get(part);
			if (!next) at.folders.set(part, next = { folders: new Map(), files: [] });
			at = next;
		}
		at.files.push(f);
	}
	const rows: TreeRow<F>[] = [];
	const add = (folder: Folder<F>, path: string, depth: number) => {
		for (const [first, child] of [...folder.folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
			let [name, inner] = [first, child];
			while (inner.files.length === 0 && inner.folders.size === 1) {
				const [part, next] = [...inner.folders][0]!;
				[name, inner] = [`${name}/${part}`, next];
			}
			const full = `${path}${name}/`;
			const all = filesOf(inner);
			rows.push({
				path: full, name, depth, file: null, count: all.length,
				additions: sum(all, (f) => f.additions), deletions: sum(all, (f) => f.deletions),
			});
			if (!closed.has(full)) add(inner, full, depth + 1);
		}
		for (const f of [...folder.files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
			rows.push({
				path: f.path, name: f.path.slice(f.path.lastIndexOf("/") + 1), depth, file: f, count: 1,
				additions: f.additions, deletions: f.deletions,
			});
		}
	};
	add(root, "", 0);
	return rows;
}

function filesOf<F>(folder: Folder<F>): F[] {
	return [...folder.files, ...[...folder.folders.values()].flatMap(filesOf)];
}

/** sum adds up a number of each file. */
export function sum<F>(list: readonly F[], of: (f: F) => number): number {
	return list.reduce((total, f) => total + of(f), 0);
}
