// Nested values as rows of a table.

export interface FlatRow {
	key: string;
	value: string;
}

/** flatten returns the leaves of a value by dotted key. Lists and empty tables are leaves. */
export function flatten(value: unknown, prefix = ""): FlatRow[] {
	if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
		return Object.entries(value).flatMap(([k, v]) => flatten(v, prefix ? `${prefix}.${k}` : k));
	}
	return [{ key: prefix, value: value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value) }];
}

/** at returns the value of a dotted key, or null. */
export function at(value: unknown, key: string): unknown {
	let found: unknown = value;
	for (const part of key.split(".")) found = (found as Record<string, unknown> | null | undefined)?.[part];
	return found ?? null;
}
