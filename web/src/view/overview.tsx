// A thin strip beside the scrollbar: where messages, trim points, errors and matches are.

import type { Entry } from "../store/timeline.ts";

/** maxMarks bounds the number of elements. Marks that would overlap become one. */
const maxMarks = 200;

type Kind = "user" | "trim" | "error" | "match";

const rank: Record<Kind, number> = { user: 0, trim: 1, error: 2, match: 3 };

function kindOf(e: Entry, matches: ReadonlySet<string>): Kind | null {
	const d = e.data;
	switch (d.type) {
		case "trimPoint":
			return "trim";
		case "turnCompleted":
			return d.status === "failed" ? "error" : null;
		case "item":
			if (matches.has(d.item.id)) return "match";
			return d.item.type === "userMessage" ? "user" : null;
		default:
			return null;
	}
}

interface Props {
	rows: readonly Entry[];
	matches: ReadonlySet<string>;
	show(index: number): void;
}

/** Overview is for pointers only: keys and the list of matches lead to the same places. */
export function Overview({ rows, matches, show }: Props) {
	const marks = new Map<number, { kind: Kind; index: number }>();
	rows.forEach((e, index) => {
		const kind = kindOf(e, matches);
		if (!kind) return;
		const place = Math.floor((index / rows.length) * maxMarks);
		const known = marks.get(place);
		if (!known || rank[kind] > rank[known.kind]) marks.set(place, { kind, index });
	});
	return (
		<div class="overview" aria-hidden="true" onClick={(e) => {
			const box = e.currentTarget.getBoundingClientRect();
			show(Math.min(rows.length - 1, Math.floor(((e.clientY - box.top) / box.height) * rows.length)));
		}}>
			{[...marks].map(([place, m]) => (
				<i class={`mark-${m.kind}`} style={{ top: `${(place / maxMarks) * 100}%` }} />
			))}
		</div>
	);
}
