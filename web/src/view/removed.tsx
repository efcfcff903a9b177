// The rows of items that a search found although they are not in the list any more.

import { categoryName } from "../wire/contextwords.ts";
import type { RemovedRow } from "../store/contextrows.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { count, plural } from "../lib/format.ts";
import type { ContextReasonCode } from "../wire/types.ts";
import { Snippet } from "./contextfind.tsx";
import { lazy } from "../lib/lazy.tsx";

const RemovedDetails = lazy(() => import("./details.tsx").then((m) => m.RemovedDetails));

const stateTexts: Partial<Record<ContextReasonCode, string>> = {
	compacted: "A compaction replaced it by a summary.", trimmed: "It is before a trim point.", deleted: "It was deleted from the context.",
};

interface Props<Kind> {
	row: Extract<RemovedRow, { kind: Kind }>;
	focused: boolean;
	onFocus(key: string): void;
}

/** RemovedHead is the head of the removed items. */
export function RemovedHead({ row, focused, onFocus }: Props<"removedHead">) {
	return (
		<div id={`c-${row.key}`} class="context-turn" role="row" aria-level={1} aria-expanded="true" tabIndex={focused ? 0 : -1}
			onFocus={() => onFocus(row.key)}>
			<span role="gridcell" class="cell-check"><Icon name="eyeOff" /></span>
			<span role="gridcell" class="turn-name">Removed from the context
				{row.shown < row.count && <span class="faint"> the first {count(row.shown)} are shown</span>}</span>
			<span role="gridcell" class="tokens">{plural(row.count, "item")}</span>
		</div>
	);
}

interface ItemProps extends Props<"removed"> {
	store: ThreadStore;
	open: boolean;
	onToggle(id: string): void;
}

/** RemovedItem is a removed item. */
export function RemovedItem({ row, store, focused, open, onFocus, onToggle }: ItemProps) {
	const { match } = row;
	const state = match.state ?? "deleted";
	return (
		<div id={`c-${row.key}`} class="context-item gone" role="row" aria-level={2} aria-expanded={open} tabIndex={focused ? 0 : -1}
			onFocus={() => onFocus(row.key)}>
			<span role="gridcell" class="cell-check" />
			<span role="gridcell" class="cell-main">
				<span class={`category cat-${match.category}`}><i aria-hidden="true" />{categoryName(match.category)}</span>
				<Snippet match={match} />
				<span class="badges"><span class="badge off" title={stateTexts[state]}>{state}</span></span>
			</span>
			<span role="gridcell" class="cell-tokens"><span class="tokens" title="tokens if it were sent">{count(match.tokens)}</span></span>
			<span role="gridcell" class="cell-menu">
				<button type="button" class="quiet" tabIndex={-1} aria-label={open ? "Hide details" : "Show details"} onClick={() => onToggle(match.id)}>
					<span class={`chevron ${open ? "open" : ""}`}><Icon name="chevron" /></span>
				</button>
			</span>
			{open && <div role="gridcell" class="cell-details" onClick={(e) => e.stopPropagation()}>
				<RemovedDetails id={match.id} store={store} /></div>}
		</div>
	);
}
