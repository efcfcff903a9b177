// A part of the timeline that a click opens.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../lib/icons.tsx";

interface FoldProps {
	icon: IconName;
	title: ComponentChildren;
	head?: ComponentChildren;
	open?: boolean;
	class?: string;
	children: ComponentChildren;
}

/** Fold shows its content when it is opened. */
export function Fold(p: FoldProps) {
	const [open, setOpen] = useState(p.open ?? false);
	return (
		<div class={`fold ${p.class ?? ""}`}>
			<div class="fold-head">
				<button type="button" class="fold-title" aria-expanded={open} onClick={() => setOpen(!open)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span><Icon name={p.icon} />{p.title}
				</button>
				{p.head}
			</div>
			{open && <div class="fold-body">{p.children}</div>}
		</div>
	);
}
