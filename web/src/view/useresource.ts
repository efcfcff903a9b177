// Reads something from the server for a component.

import { useEffect, useMemo } from "preact/hooks";
import { Resource } from "../store/resource.ts";

/** useResource reads something while a component is mounted, and anew if deps change. */
export function useResource<T>(read: () => Promise<T>, deps: readonly unknown[]): Resource<T> {
	const resource = useMemo(() => new Resource(read), deps);
	useEffect(() => resource.start(), [resource]);
	return resource;
}
