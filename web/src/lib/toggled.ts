/** toggled returns a set with or without a value. */
export function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
	const next = new Set(set);
	if (!next.delete(value)) next.add(value);
	return next;
}
