// An output that stays at its end while it grows, unless the user has scrolled up.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";

/** endDistance is the distance from the end, in pixels, within which an output stays at its end. */
const endDistance = 24;

interface Props {
	label: string;
	class?: string;
	/** at changes when the output grows. */
	at: unknown;
	children: ComponentChildren;
}

/** FollowedOutput shows an output. */
export function FollowedOutput(p: Props) {
	const box = useRef<HTMLPreElement>(null);
	const atEnd = useRef(true);
	useLayoutEffect(() => {
		if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
	}, [p.at]);
	return (
		<pre ref={box} class={`output ${p.class ?? ""}`} tabIndex={0} aria-label={p.label} onScroll={(e) => {
			const el = e.currentTarget;
			atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < endDistance;
		}}>{p.children}</pre>
	);
}
