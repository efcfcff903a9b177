// The composer: text, files, commands, skills and images.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { connected } from "../store/app.ts";
import { TurnChoice } from "../store/choice.ts";
import { mention, wordStart, type Completion } from "../store/completions.ts";
import { reveal } from "../store/reveal.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { plural } from "../lib/format.ts";
import { AttachmentList, useAttachments, type Attachments } from "./attachments.tsx";
import { CompletionList, onCompletionKey, useCompletions } from "./completions.tsx";
import { TurnOptions } from "./options.tsx";

/** maxHeight is the largest height of the text, as a share of the page. */
const maxHeight = 0.4;

/** Composer is the form for the next message. */
export function Composer({ store }: { store: ThreadStore }) {
	const text = store.draft.text.value;
	const attachments = useAttachments(store);
	const [sending, setSending] = useState(false);
	const choice = useMemo(() => new TurnChoice(store.settings), []);
	const area = useRef<HTMLTextAreaElement>(null);
	const running = store.turns.current.value !== null;
	const complete = useCompletions(store, text, area.current?.selectionStart ?? text.length, running);
	const empty = text.trim() === "" && attachments.images.length === 0;
	const sendable = connected() && store.phase.value === "ready" && !sending && !empty;

	useEffect(() => grow(area.current!), [text]);
	useEffect(() => area.current?.focus(), []);

	const send = async () => {
		if (!sendable) return;
		setSending(true);
		try {
			await store.turns.submit(text, attachments.images, choice.overrides());
			choice.settle();
			store.draft.set("");
			attachments.clear();
			reveal.end();
		} catch (error) {
			store.notices.report(error);
		}
		setSending(false);
		area.current?.focus();
	};
	const accept = (c: Completion) => {
		if (c.disabled) return;
		const el = area.current!;
		store.draft.set(text.slice(0, wordStart(text, el.selectionStart)) + c.insert + " " + text.slice(el.selectionStart));
		el.focus();
	};
	const onMessageKey = messageKeys(store, send);
	const shown = complete.list.length > 0;
	const drop = useDrop((images, others) => {
		void attachments.attach(images);
		void mention(store, others, (names) => insert(store, area.current!, names));
	});
	return (
		<form class={`composer ${drop.over ? "drop" : ""}`} aria-label="Message" {...drop.handlers} onSubmit={(e) => {
			e.preventDefault();
			void send();
		}}>
			<CompletionList list={complete.list} at={complete.at} accept={accept} />
			<AttachmentList images={attachments.images} remove={attachments.remove} />
			<textarea ref={area} value={text} rows={1} aria-label="Message"
				disabled={store.phase.value === "locked" || store.phase.value === "archived"}
				aria-autocomplete="list" aria-controls={shown ? "suggestions" : undefined}
				aria-activedescendant={shown ? `suggestion-${complete.at}` : undefined}
				placeholder={running ? "Write to steer the agent…" : "Message the agent. @ files, / commands, $ skills, ! shell"}
				onInput={(e) => store.draft.set(e.currentTarget.value)}
				onKeyDown={(e) => e.isComposing || onCompletionKey(e, complete, text.trim(), accept) || onMessageKey(e)}
				onPaste={(e) => void attachments.attach(e.clipboardData?.files ?? [])} />
			<Bar store={store} choice={choice} attachments={attachments} running={running} sendable={sendable} />
		</form>
	);
}

/** useDrop takes files that are dropped on an element. Texts go to the field, as everywhere. */
function useDrop(take: (images: File[], others: File[]) => void) {
	const [over, setOver] = useState(false);
	const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") === true;
	return {
		over,
		handlers: {
			onDragOver: (e: DragEvent) => {
				if (!hasFiles(e)) return;
				e.preventDefault();
				setOver(true);
			},
			onDragLeave: () => setOver(false),
			onDrop: (e: DragEvent) => {
				setOver(false);
				if (!hasFiles(e)) return;
				e.preventDefault();
				const files = [...e.dataTransfer!.files];
				const isImage = (f: File) => f.type.startsWith("image/");
				take(files.filter(isImage), files.filter((f) => !isImage(f)));
			},
		},
	};
}

/** insert adds words at the caret of the message. */
function insert(store: ThreadStore, el: HTMLTextAreaElement, words: string): void {
	const text = store.draft.text.peek();
	const at = el.selectionStart;
	const gap = at > 0 && !/\s$/.test(text.slice(0, at)) ? " " : "";
	store.draft.set(`${text.slice(0, at)}${gap}${words} ${text.slice(at)}`);
	el.focus();
}

/** grow gives a text area the height of its text, up to a part of the page. */
function grow(el: HTMLElement): void {
	el.style.height = "auto";
	el.style.height = `${Math.min(el.scrollHeight, innerHeight * maxHeight)}px`;
}

/**
 * messageKeys returns the handler of keys that send the message, or act on the conversation if the field is empty.
 */
function messageKeys(store: ThreadStore, send: () => Promise<void>): (e: KeyboardEvent) => void {
	return (e) => {
		const empty = store.draft.text.value === "";
		if (e.key === "Enter" && !e.shiftKey) {
			e.preventDefault();
			void send();
		} else if (e.key === "ArrowUp" && empty) {
			e.preventDefault();
			store.items.lastMessage().then((last) => store.draft.replace(last, ""), (error) => store.notices.report(error));
		}
	};
}

interface BarProps {
	store: ThreadStore;
	choice: TurnChoice;
	attachments: Attachments;
	running: boolean;
	sendable: boolean;
}

/** Bar has the buttons below the text, and the settings of the next turn. */
function Bar({ store, choice, attachments: { images, attach }, running, sendable }: BarProps) {
	const interrupt = () => void store.turns.interrupt().catch((e) => store.notices.report(e));
	return (
		<div class="composer-bar">
			<label class="quiet file" title="Attach images">
				<Icon name="image" /><span class="visually-hidden">Attach images</span>
				<input type="file" accept="image/*" multiple onChange={(e) => void attach(e.currentTarget.files ?? [])} />
			</label>
			{!running && <TurnOptions store={store} choice={choice} />}
			<span class="spacer" />
			{images.length > 0 && <span class="faint">{plural(images.length, "image")}</span>}
			{running && (
				<button type="button" class="stop" title="Interrupt the turn (Ctrl+.)" onClick={interrupt}>
					<Icon name="stop" />Stop
				</button>
			)}
			<button type="submit" class="primary" disabled={!sendable}>
				<Icon name="send" />{running ? "Steer" : "Send"}
			</button>
		</div>
	);
}
