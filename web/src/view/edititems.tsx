// The items of an edit of the context.

import { useState } from "preact/hooks";
import { categoryName } from "../wire/contextwords.ts";
import { itemName } from "../store/edits.ts";
import { showContext } from "../store/panels.ts";
import type { ThreadStore } from "../store/thread.ts";
import { count } from "../lib/format.ts";
import type { ContextEdit, ContextItem } from "../wire/types.ts";
import { useResource } from "./useresource.ts";

/** Names has the items of the list by their ids. */
export type Names = ReadonlyMap<string, ContextItem>;

/** maxShown is the number of items of an edit that are shown at first. */
const maxShown = 50;

interface NameProps {
	store: ThreadStore;
	id: string;
	names: Names;
	/** reads is set if an item that is not in the list is read from the server. */
	reads: boolean;
}

/** ItemName names an item by its text. */
export function ItemName({ store, id, names, reads }: NameProps) {
	const item = names.get(id);
	if (item) return <>{itemName(item)}</>;
	return reads ? <ReadName store={store} id={id} /> : <>{id}</>;
}

/** ReadName names an item that is not in the list any more. */
function ReadName({ store, id }: { store: ThreadStore; id: string }) {
	const read = useResource(() => store.requests.call("context/readItem", { threadId: store.id, id }), [store, id]);
	return <>{read.value.value ? itemName(read.value.value.item) : id}</>;
}

const states: Record<string, string> = {
	included: "sent", replaced: "replaced", excluded: "excluded", deleted: "deleted", hidden: "not in the list", pinned: "pinned", unpinned: "not pinned",
};

/** EditItems lists the items of an edit, with what became of them. */
export function EditItems({ store, edit, names }: { store: ThreadStore; edit: ContextEdit; names: Names }) {
	const [all, setAll] = useState(false);
	const items = edit.items ?? [];
	return (
		<ul class="edit-items" aria-label="Items of the edit">
			{items.slice(0, all ? items.length : maxShown).map(({ id, was, is }, i) => {
				const item = names.get(id);
				const text = <ItemName store={store} id={id} names={names} reads={i < maxShown} />;
				return (
					<li key={id}>
						{item && <span class={`category cat-${item.category}`}><i aria-hidden="true" />{categoryName(item.category)}</span>}
						{item ? <button type="button" class="small quiet ellipsis" title="Show in the list" onClick={() => showContext(id)}>{text}</button>
							: <span class="ellipsis">{text}</span>}
						<span class="faint">{was === is ? "changed" : `${states[was] ?? was} → ${states[is] ?? is}`}</span>
						{item && <span class="tokens">{count(item.tokens)}</span>}
					</li>
				);
			})}
			{!all && items.length > maxShown &&
				<li><button type="button" class="small" onClick={() => setAll(true)}>Show {count(items.length - maxShown)} more</button></li>}
		</ul>
	);
}
