// What the tabs of the panel share.

import type { ComponentChildren } from "preact";
import { connected } from "../store/app.ts";
import type { Resource } from "../store/resource.ts";
import { visible } from "../lib/format.ts";

interface LoadProps<T> {
	resource: Resource<T>;
	/** what names the data in the text of a failure. */
	what: string;
	children(value: T): ComponentChildren;
}

/** Load shows what a resource has, or that it is loading or failed. */
export function Load<T>({ resource, what, children }: LoadProps<T>) {
	const failure = resource.failure.value;
	const value = resource.value.value;
	if (failure) {
		return <Failed text={`${what} cannot be read.`} reason={failure.message} retry={() => void resource.load()} />;
	}
	if (value === null) return <p class="hint" role="status">Loading…</p>;
	return <>{children(value)}</>;
}

/** Failed says what cannot be shown, and why. */
export function Failed({ text, reason, retry }: { text: string; reason: string; retry(): void }) {
	return (
		<div class="hint" role="alert">
			<p>{text}</p>
			<p class="faint">{visible(reason)}</p>
			<button type="button" onClick={retry} disabled={!connected()}>Try again</button>
		</div>
	);
}
