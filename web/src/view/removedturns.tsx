// The turns that a revert takes out of the conversation.

import { useResource } from "./useresource.ts";
import { readTurnName, type TurnName } from "../store/reverts.ts";
import type { ThreadStore } from "../store/thread.ts";
import { firstLine, plural, visible } from "../lib/format.ts";

/** maxNamed is the number of turns up to which each is named. Of more turns, the first and the last one are. */
const maxNamed = 8;

const nameLength = 100;

/** shortName returns the name of a turn for a row. */
export const shortName = (n: TurnName): string => firstLine(visible(n.name), nameLength);

/** readNames reads the names of the turns that are shown, in order. */
export function readNames(store: ThreadStore, ids: readonly string[]): Promise<TurnName[]> {
	const named = ids.length > maxNamed ? [ids[0]!, ids.at(-1)!] : ids;
	return Promise.all(named.map((id) => readTurnName(store.requests, id)));
}

/** RemovedTurns names the turns that a revert removes. */
export function RemovedTurns({ store, ids }: { store: ThreadStore; ids: readonly string[] }) {
	const names = useResource(() => readNames(store, ids), [store, ids.join()]).value.value;
	const between = ids.length - 2;
	return (
		<>
			<h3>{plural(ids.length, "turn")} {ids.length === 1 ? "leaves" : "leave"} the conversation</h3>
			<ul class="removed-turns">
				{ids.length <= maxNamed
					? ids.map((id, i) => <li key={id}>{names ? shortName(names[i]!) : "…"}</li>)
					: <>
						<li>First: {names ? shortName(names[0]!) : "…"}</li>
						<li class="faint">{plural(between, "turn")} between them</li>
						<li>Last: {names ? shortName(names[1]!) : "…"}</li>
					</>}
			</ul>
		</>
	);
}
