// The dialog that edits a message of the user and sends it again.

import { useEffect, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { messageText } from "../store/items.ts";
import { readOnlyReason } from "../store/readonly.ts";
import type { ThreadStore } from "../store/thread.ts";
import { plural } from "../lib/format.ts";
import type { TimelineItem, UserInput } from "../wire/types.ts";
import { Frame } from "./frame.tsx";
import { Failed } from "./parts.tsx";
import { readNames, RemovedTurns } from "./removedturns.tsx";
import { useResource } from "./useresource.ts";

/** Loaded is the message and the turns that leave if it is sent again in this thread. */
interface Loaded {
	content: readonly UserInput[];
	text: string;
	ids: readonly string[];
}

/** ResendDialog sends an edited message in a fork, or in this thread without its turn and the later ones. */
export function ResendDialog({ store, entry }: { store: ThreadStore; entry: TimelineItem }) {
	const loaded = useResource(() => load(store, entry), [entry]);
	const [text, setText] = useState<string | null>(null);
	const [inFork, setInFork] = useState(true);
	const value = loaded.value.value;
	useEffect(() => {
		if (value && text === null) setText(value.text);
	}, [value]);
	const reason = inFork ? "" : readOnlyReason(store);
	if (loaded.failure.value) {
		return <Frame title="Edit and send again"><Failed text="The message cannot be read." reason={loaded.failure.value.message}
			retry={() => void loaded.load()} /></Frame>;
	}
	const run = () => (inFork ? sendInFork(store, entry.turnId, inputOf(value!, text!))
		: sendHere(store, entry.turnId, value!, text!));
	return (
		<Frame title="Edit and send again" action={inFork ? "Send in a fork" : `Remove ${plural(value?.ids.length ?? 0, "turn")} and send`}
			danger={!inFork} disabled={!value || (text ?? "").trim() === "" || reason !== ""} run={run}>
			<label class="field"><span>Message</span>
				<textarea rows={6} value={text ?? ""} disabled={!value} onInput={(e) => setText(e.currentTarget.value)} /></label>
			<fieldset>
				<legend>Where</legend>
				<label class="option"><input type="radio" name="where" checked={inFork} onChange={() => setInFork(true)} />
					<span>In a fork <span class="faint">A new thread with the turns before this message. This thread stays as it is.</span></span></label>
				<label class="option"><input type="radio" name="where" checked={!inFork} onChange={() => setInFork(false)} />
					<span>In this thread <span class="faint">The turn of this message and all later ones leave the conversation. They cannot come
						back, because the message is sent at once.</span></span></label>
			</fieldset>
			{!inFork && value && <div class="revert-effect"><RemovedTurns store={store} ids={value.ids} /></div>}
			<p class="faint">Files stay as they are, in both cases. Images of the message are sent again.</p>
			{reason && <p class="error-text" role="alert">{reason}</p>}
		</Frame>
	);
}

async function load(store: ThreadStore, entry: TimelineItem): Promise<Loaded> {
	const { call, threadId } = store.requests;
	const [item, preview] = await Promise.all([
		store.items.wholeItem(entry),
		call("thread/checkpoint/revert", { threadId, turnId: entry.turnId, mode: "conversation", dryRun: true }),
	]);
	if (item.type !== "userMessage") throw new Error("It is no message of the user.");
	return { content: item.content, text: messageText(item), ids: preview.removedTurnIds };
}

/** inputOf returns the message with another text. */
function inputOf({ content }: Loaded, text: string): UserInput[] {
	return [{ type: "text", text: text.trim() }, ...content.filter((c) => c.type !== "text")];
}

async function sendInFork(store: ThreadStore, turnId: string, input: UserInput[]): Promise<void> {
	const { call, threadId } = store.requests;
	const { thread } = await call("thread/fork", { threadId, beforeTurnId: turnId });
	await call("turn/start", { threadId: thread.id, input });
	app.show(thread.id);
}

/**
 * sendHere removes the turns and sends the message. If the latter fails, the turns can come back, and the text is in
 * the composer.
 */
async function sendHere(store: ThreadStore, turnId: string, loaded: Loaded, text: string): Promise<void> {
	const { call, threadId } = store.requests;
	const names = await readNames(store, loaded.ids);
	const done = await call("thread/revert", { threadId, beforeTurnId: turnId, expectedLastTurnId: loaded.ids.at(-1)! });
	try {
		await call("turn/start", { threadId, input: inputOf(loaded, text) });
	} catch (error) {
		store.reverts.removed({ ids: done.removedTurnIds, first: { ...names[0]!, message: text }, last: names.at(-1)! });
		store.notices.report(error);
	}
}
