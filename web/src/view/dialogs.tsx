// Dialogs: one is open at a time.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import * as app from "../store/app.ts";
import { categoryNames } from "../store/context.ts";
import { useResource } from "../store/resource.ts";
import { lastTurn } from "../store/reverts.ts";
import type { Notice, ThreadStore } from "../store/thread.ts";
import { count, plural } from "../lib/format.ts";
import type { ContextCategory, ContextItem, Thread } from "../wire/types.ts";
import { Compact } from "./compaction.tsx";
import { shortcuts } from "./keys.ts";
import { Palette } from "./palette.tsx";
import { titleOf } from "./threads.tsx";

export type Dialog =
	| { kind: "new" } | { kind: "keys" } | { kind: "palette" }
	| { kind: "rename"; thread: Thread } | { kind: "delete"; thread: Thread }
	| { kind: "trim"; store: ThreadStore } | { kind: "compact"; store: ThreadStore } | { kind: "prune"; store: ThreadStore }
	| { kind: "restore"; store: ThreadStore }
	| { kind: "replace"; store: ThreadStore; item: ContextItem }
	| { kind: "summary"; store: ThreadStore; trimPointId: string; text: string }
	| { kind: "part"; view(): ComponentChildren };

export const dialog = signal<Dialog | null>(null);

export function openDialog(d: Dialog): void {
	dialog.value = d;
}

export function closeDialog(): void {
	dialog.value = null;
}

export function Dialogs() {
	const d = dialog.value;
	if (!d) return null;
	switch (d.kind) {
		case "new": return <NewThread />;
		case "keys": return <Keys />;
		case "palette": return <Frame title="Commands"><Palette close={closeDialog} /></Frame>;
		case "rename": return <Rename thread={d.thread} />;
		case "delete": return <Delete thread={d.thread} />;
		case "trim": return <Trim store={d.store} />;
		case "compact": return <Compact store={d.store} />;
		case "prune": return <Prune store={d.store} />;
		case "restore": return <Restore store={d.store} />;
		case "replace": return <Replace store={d.store} item={d.item} />;
		case "part": return <>{d.view()}</>;
		case "summary": return <EditSummary store={d.store} trimPointId={d.trimPointId} text={d.text} />;
	}
}

interface FrameProps {
	title: string;
	action?: string;
	danger?: boolean;
	disabled?: boolean;
	wide?: boolean;
	/** extra is a button beside the others. */
	extra?: ComponentChildren;
	/** run returns false to keep the dialog open. */
	run?(): Promise<boolean | void> | boolean | void;
	children: ComponentChildren;
}

/** Frame is a dialog with a title and buttons. */
export function Frame(p: FrameProps) {
	const el = useRef<HTMLDialogElement>(null);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState("");
	useLayoutEffect(() => { // so that the focus is back when the dialog is gone
		const node = el.current!;
		const before = document.activeElement as HTMLElement | null;
		node.showModal();
		return () => {
			node.close();
			before?.focus();
		};
	}, []);
	const submit = async (e: Event) => {
		e.preventDefault();
		if (!p.run || p.disabled || busy) return;
		setBusy(true);
		app.failure.value = "";
		const before = app.current.value?.notices.value ?? [];
		const keep = (await p.run()) === false;
		setBusy(false);
		if (keep) setFailure(takeFailure(before));
		else closeDialog();
	};
	return (
		<dialog ref={el} class={p.wide ? "wide" : ""} aria-label={p.title} onCancel={(e) => {
			e.preventDefault();
			closeDialog();
		}} onClick={(e) => e.target === el.current && closeDialog()}>
			<form onSubmit={(e) => void submit(e)}>
				<h2>{p.title}</h2>
				<div class="dialog-body">{p.children}</div>
				{failure && <p class="error-text pre" role="alert">{failure}</p>}
				<div class="dialog-buttons">
					<button type="button" onClick={closeDialog}>{p.run ? "Cancel" : "Close"}</button>
					{p.extra}
					{p.run && <button type="submit" class={p.danger ? "danger-button" : "primary"} disabled={p.disabled || busy}>{p.action ?? "OK"}</button>}
				</div>
			</form>
		</dialog>
	);
}

/** takeFailure moves the error of a request from the page below to the dialog. The notices before the request stay. */
function takeFailure(before: readonly Notice[]): string {
	const store = app.current.value;
	const notice = store?.notices.value.find((n) => n.kind === "error" && !before.includes(n));
	if (notice) store!.closeNotice(notice.id);
	const text = notice?.text ?? app.failure.value;
	app.failure.value = "";
	return text;
}

function NewThread() {
	const folders = [...new Set(app.threads.value.map((t) => t.cwd))].slice(0, 20);
	const [cwd, setCwd] = useState(app.current.value?.thread.value?.cwd ?? folders[0] ?? "");
	return (
		<Frame title="New thread" action="Start" run={() => app.create(cwd.trim())}>
			<label class="field"><span>Folder</span>
				<input type="text" value={cwd} list="folders" placeholder="the server's folder" spellcheck={false} onInput={(e) => setCwd(e.currentTarget.value)} />
			</label>
			<datalist id="folders">{folders.map((f) => <option value={f} />)}</datalist>
			<p class="faint">The agent reads and changes files of this folder.</p>
		</Frame>
	);
}

function Keys() {
	return (
		<Frame title="Keyboard shortcuts">
			{shortcuts.map(([where, keys]) => (
				<section class="keys">
					<h3>{where}</h3>
					<dl>{keys.map(([k, what]) => <div><dt>{k.split(" ").map((part) => <kbd>{part}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
				</section>
			))}
		</Frame>
	);
}

function Rename({ thread }: { thread: Thread }) {
	const [name, setName] = useState(thread.name ?? "");
	return (
		<Frame title="Rename the thread" action="Rename" disabled={name.trim() === ""}
			run={async () => (await app.attempt((c) => c.call("thread/name/set", { threadId: thread.id, name: name.trim() }))) !== null}>
			<label class="field"><span>Name</span><input type="text" value={name} onInput={(e) => setName(e.currentTarget.value)} /></label>
		</Frame>
	);
}

function Delete({ thread }: { thread: Thread }) {
	return (
		<Frame title="Delete the thread?" action="Delete" danger
			run={async () => (await app.attempt((c) => c.call("thread/delete", { threadId: thread.id }))) !== null}>
			<p><strong>{titleOf(thread)}</strong></p>
			<p>Its messages and its edits are removed from the disk. This cannot be undone.</p>
		</Frame>
	);
}

function Trim({ store }: { store: ThreadStore }) {
	const [keep, setKeep] = useState(2);
	const [summary, setSummary] = useState("");
	const last = useMemo(() => lastTurn(store).catch(() => null), [store]); // the turns to keep are counted from this one
	return (
		<Frame title="Trim the context" action="Trim" run={() => store.edit(async (c, threadId) =>
			c.call("thread/context/trim", {
				threadId, keepLastNTurns: keep, summary: summary.trim() || null, expectedLastTurnId: await last,
			}))}>
			<p>Earlier turns are not sent to the model any more. They stay readable, and undo brings them back.</p>
			<label class="field"><span>Turns to keep</span>
				<input type="number" min={0} value={keep} onInput={(e) => setKeep(Math.max(0, Math.floor(e.currentTarget.valueAsNumber || 0)))} />
			</label>
			<label class="field"><span>Summary of the removed turns (optional)</span>
				<textarea rows={3} value={summary} onInput={(e) => setSummary(e.currentTarget.value)} />
			</label>
		</Frame>
	);
}

function Prune({ store }: { store: ThreadStore }) {
	const [chosen, setChosen] = useState<ReadonlySet<ContextCategory>>(new Set(["toolOutput"]));
	const usage = store.context.usage.value;
	const toggle = (c: ContextCategory) => {
		const next = new Set(chosen);
		if (!next.delete(c)) next.add(c);
		setChosen(next);
	};
	const exclude = async () => {
		const ids = store.context.items.value.filter((i) => chosen.has(i.category) && i.included && !i.pinned).map((i) => i.id);
		await store.change(ids, { included: false });
	};
	return (
		<Frame title="Exclude categories" action={store.direct.value ? "Exclude" : "Add to the plan"} disabled={chosen.size === 0} run={exclude}>
			<fieldset>
				<legend class="visually-hidden">Categories</legend>
				{usage?.byCategory.map((c) => (
					<label class="option">
						<input type="checkbox" checked={chosen.has(c.category)} onChange={() => toggle(c.category)} />
						<span>{categoryNames[c.category]} <span class="faint">{plural(c.count, "item")}, {count(c.includedTokens)} tokens</span></span>
					</label>
				))}
			</fieldset>
			<p class="faint">Pinned items stay.</p>
		</Frame>
	);
}

function Restore({ store }: { store: ThreadStore }) {
	return (
		<Frame title="Restore the full context?" action="Restore" run={() => store.edit((c, threadId) => c.call("context/restore", { threadId, expectedRevision: store.context.revision.value }))}>
			<p>Excluded and deleted items, trimmed turns and original texts are sent again. Undo reverts the restore.</p>
		</Frame>
	);
}

/** maxEdited is the number of characters up to which the page edits a text. */
const maxEdited = 500_000;

/**
 * Replace edits the whole text of an item. The list has only the beginning of it, so the text is read first, unless it is
 * planned already.
 */
function Replace({ store, item }: { store: ThreadStore; item: ContextItem }) {
	const planned = store.plan.value.get(item.id)?.text;
	const [value, setValue] = useState<string | null>(planned ?? null);
	const read = useResource(() => (planned === undefined ? store.readText(item.id) : Promise.resolve(null)), [item.id]);
	const whole = read.value.value;
	const tooLong = value === null && whole !== null && whole.text.length > maxEdited;
	useEffect(() => {
		if (value === null && whole !== null && whole.text.length <= maxEdited) setValue(whole.text);
	}, [whole]);
	const area = useRef<HTMLTextAreaElement>(null);
	useLayoutEffect(() => { // so that no key is lost after the text is shown
		area.current?.focus();
		area.current?.setSelectionRange(0, 0);
	}, [value === null]);
	const failure = read.failure.value;
	return (
		<Frame title="Replace the text" action={store.direct.value ? "Replace" : "Add to the plan"} disabled={value === null}
			{...(tooLong || failure ? {} : { run: () => store.change([item.id], { text: value! }) })}>
			{failure ? <p class="error-text" role="alert">{failure.message}</p>
				: tooLong ? <p role="status">This text has {count(whole.text.length)} characters. The page edits texts of up to {count(maxEdited)}.
					Exclude the item, or replace its text with <code>context/replace</code>.</p>
				: value === null ? <p class="faint" role="status">Loading the whole text…</p>
				: <>
					<p>The model gets this text. The original stays in the rollout.</p>
					{whole !== null && whole.others > 0 && <p class="faint">The item also has {plural(whole.others, "part")} that {whole.others === 1 ? "is" : "are"} no
						text, such as images. A replacement does not have {whole.others === 1 ? "it" : "them"}.</p>}
					<textarea ref={area} class="mono" rows={12} value={value} aria-label="New text" onInput={(e) => setValue(e.currentTarget.value)} />
				</>}
		</Frame>
	);
}

function EditSummary({ store, trimPointId, text }: { store: ThreadStore; trimPointId: string; text: string }) {
	const [value, setValue] = useState(text);
	return (
		<Frame title="Summary of earlier messages" action="Save"
			run={() => store.edit((c, threadId) => c.call("thread/context/summarize", { threadId, trimPointId, summary: value }))}>
			<textarea rows={8} value={value} aria-label="Summary" onInput={(e) => setValue(e.currentTarget.value)} />
		</Frame>
	);
}
