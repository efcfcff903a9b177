// Nested values as rows of a table.

/** FlatRow is a leaf of a value. */
export interface FlatRow {
	key: string;
	value: string;
}

/** flatten returns the leaves of a value by dotted key. Lists and empty tables are leaves. */
export function flatten(value: unknown, prefix = ""): FlatRow[] {
	if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
		return Object.entries(value).flatMap(([k, v]) => flatten(v, prefix ? `${prefix}.${k}` : k));
	}
	if (value === null || value === undefined) return [{ key: prefix, value: "–" }];
	return [{ key: prefix, value: typeof value === "string" ? value : JSON.stringify(value) }];
}

/** at returns the value of a dotted key, or null. */
export function at(value: unknown, key: string): unknown {
	let found: unknown = value;
	for (const part of key.split(".")) found = (found as Record<string, unknown> | null | undefined)?.[part];
	return found ?? null;
}
