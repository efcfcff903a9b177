// Values of the last rendering, for handlers and effects that outlive it.

import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * useLatest returns a reference to the value of the last rendering. Effects that follow it see the value of their own.
 */
export function useLatest<T>(value: T): { readonly current: T } {
	const latest = useRef(value);
	useLayoutEffect(() => {
		latest.current = value;
	});
	return latest;
}
