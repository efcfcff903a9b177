// The dialog that takes the last turns out of the conversation. The server says which turns these are, because the page
// has only a part of a long thread.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { readOnlyReason } from "../store/readonly.ts";
import { useResource } from "./useresource.ts";
import { readTurnName, turnName, type TurnName } from "../store/reverts.ts";
import type { ThreadStore } from "../store/thread.ts";
import { CallError } from "../wire/connection.ts";
import { plural } from "../lib/format.ts";
import type { Turn } from "../wire/types.ts";
import { Frame } from "./frame.tsx";
import { readNames, RemovedTurns, shortName } from "./removedturns.tsx";

const pageSize = 30;

/** RewindDialog removes a turn and all later ones. Without a turn, the user chooses one. */
export function RewindDialog({ store, turnId }: { store: ThreadStore; turnId: string | undefined }) {
	const [chosen, setChosen] = useState(turnId ?? "");
	const [failure, setFailure] = useState("");
	const effect = useResource(() => readEffect(store, chosen), [chosen]);
	const removed = effect.value.value;
	const reason = readOnlyReason(store);
	const problem = failure || (chosen !== "" && effect.failure.value?.message) || reason;
	const choose = (id: string) => {
		setFailure("");
		setChosen(id);
	};
	const run = async () => {
		try {
			const names = await readNames(store, removed!.ids);
			const done = await store.requests.call("thread/revert", {
				threadId: store.id, beforeTurnId: chosen, expectedLastTurnId: removed!.ids.at(-1)!,
			});
			store.reverts.removed({ ids: done.removedTurnIds, first: names[0]!, last: names.at(-1)! });
			return true;
		} catch (error) {
			const stale = error instanceof CallError && error.kind === "staleTurn";
			setFailure(stale ? "The thread has newer turns than were shown here. Nothing was removed: look at the turns again."
				: (error as Error).message);
			if (stale) void effect.load();
			return false;
		}
	};
	return (
		<Frame title="Rewind the conversation" action={removed ? `Remove ${plural(removed.ids.length, "turn")}` : "Remove"} danger
			disabled={!removed || reason !== ""} run={run}>
			{turnId === undefined && <TurnChoice store={store} chosen={chosen} choose={choose} />}
			{chosen !== "" && !effect.failure.value &&
				(removed ? <div class="revert-effect"><RemovedTurns store={store} ids={removed.ids} /></div>
				: <p class="faint" role="status">Looking which turns these are…</p>)}
			<p class="faint">Files stay as they are. You can undo this until the next message.</p>
			{problem && <p class="error-text" role="alert">{problem}</p>}
		</Frame>
	);
}

/** readEffect returns the turns that leave if a turn and all later ones are removed, or null without a turn. */
async function readEffect(store: ThreadStore, turnId: string): Promise<{ ids: readonly string[] } | null> {
	if (turnId === "") return null;
	const preview = await store.requests.call("thread/checkpoint/revert", { threadId: store.id, turnId, mode: "conversation", dryRun: true });
	return { ids: preview.removedTurnIds };
}

/** TurnChoice lists turns, newest first. */
function TurnChoice({ store, chosen, choose }: { store: ThreadStore; chosen: string; choose(turnId: string): void }) {
	const [pages, setPages] = useState(1);
	const [shown, setShown] = useState<Awaited<ReturnType<typeof readTurns>> | null>(null);
	const list = useResource(() => readTurns(store, pages), [store, pages]);
	const read = list.value.value;
	useEffect(() => {
		if (!read) return;
		setShown(read);
		if (chosen === "" && read.turns.length > 0) choose(read.turns[0]!.id);
	}, [read]);
	const first = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => first.current?.focus(), [shown === null]);
	if (list.failure.value) return <p class="error-text" role="alert">{list.failure.value.message}</p>;
	if (!shown) return <p class="faint" role="status">Loading the turns…</p>;
	if (shown.turns.length === 0) return <p>The conversation has no turns.</p>;
	return (
		<fieldset class="rewind-list">
			<legend>Remove this turn and all later ones <span class="faint">(newest first)</span></legend>
			{shown.turns.map((t, i) => (
				<label class="option" key={t.id}>
					<input ref={i === 0 ? first : undefined} type="radio" name="turn" checked={chosen === t.id}
						onChange={() => choose(t.id)} />
					<span class="ellipsis">{shortName(t.name)}</span>
				</label>
			))}
			{shown.more && <button type="button" class="small" onClick={() => setPages(pages + 1)}>Show earlier turns</button>}
		</fieldset>
	);
}

interface NamedTurn {
	id: string;
	name: TurnName;
}

async function readTurns(store: ThreadStore, pages: number): Promise<{ turns: NamedTurn[]; more: boolean }> {
	const turns: NamedTurn[] = [];
	let cursor: string | null = null;
	for (let i = 0; i < pages; i++) {
		const page: Awaited<ReturnType<typeof readPage>> = await readPage(store, cursor);
		turns.push(...(await Promise.all(page.data.map(async (t) => ({ id: t.id, name: await nameOf(store, t) })))));
		cursor = page.nextCursor;
		if (!cursor) break;
	}
	return { turns, more: cursor !== null };
}

/**
 * nameOf names a turn by the message of the user in its summary, or else by its first item, which a summary can lack.
 */
async function nameOf(store: ThreadStore, turn: Turn): Promise<TurnName> {
	const message = turn.items.find((i) => i.type === "userMessage");
	return message ? turnName(message) : readTurnName(store.requests, turn.id);
}

function readPage(store: ThreadStore, cursor: string | null) {
	return store.requests.call("thread/turns/list", { threadId: store.id, limit: pageSize, itemsView: "summary", cursor });
}
