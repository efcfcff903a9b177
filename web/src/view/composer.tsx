// The composer: text, files, commands, skills and images.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import type { ThreadStore } from "../store/thread.ts";
import { CallError } from "../wire/connection.ts";
import { Icon } from "../lib/icons.tsx";
import { plural } from "../lib/format.ts";
import type { SlashCommand, UserInput } from "../wire/types.ts";
import { openRewind } from "./openrevert.tsx";
import { Choice, TurnOptions } from "./options.tsx";
import { reveal } from "../store/reveal.ts";

interface Suggestion {
	label: string;
	detail: string;
	insert: string;
	disabled?: string;
}

interface Image {
	name: string;
	url: string;
}

const maxSuggestions = 8;
const maxImageBytes = 10 << 20;

export function Composer({ store }: { store: ThreadStore }) {
	const key = `appserver.draft.${store.id}`;
	const [text, show] = useState(() => localStorage.getItem(key) ?? "");
	const setText = (value: string) => {
		if (value === "") localStorage.removeItem(key);
		else localStorage.setItem(key, value);
		show(value);
	};
	const [images, setImages] = useState<readonly Image[]>([]);
	const [sending, setSending] = useState(false);
	const choice = useMemo(() => new Choice(store), []);
	const area = useRef<HTMLTextAreaElement>(null);
	const escape = useRef(0);
	const running = store.turn.value !== null;
	const online = app.connection.value?.state.value === "open";
	const writable = online && store.phase.value === "ready";
	const suggest = useSuggestions(store, text, area.current?.selectionStart ?? text.length, running);

	useEffect(() => {
		const el = area.current!;
		el.style.height = "auto";
		el.style.height = `${Math.min(el.scrollHeight, innerHeight * 0.4)}px`;
	}, [text]);
	useEffect(() => area.current?.focus(), []);
	const shown = useRef(text);
	shown.current = text;
	useEffect(() => {
		reveal.draft = (value, former) => {
			if (shown.current === former) setText(value);
		};
		return () => {
			reveal.draft = () => undefined;
		};
	}, []);

	const send = async () => {
		const content = text.trim();
		if ((content === "" && images.length === 0) || sending || !writable) return;
		setSending(true);
		try {
			if (content.startsWith("!") && images.length === 0) {
				await app.connection.value!.call("thread/shellCommand", { threadId: store.id, command: content.slice(1).trim() });
			} else {
				await submit(content);
			}
			setText("");
			setImages([]);
			reveal.end();
		} catch (error) {
			store.report(error);
		} finally {
			setSending(false);
			area.current?.focus();
		}
	};
	const submit = async (content: string) => {
		const input: UserInput[] = images.map((i) => ({ type: "image", url: i.url }));
		if (content !== "") input.unshift({ type: "text", text: content });
		try {
			await store.send(input, choice.overrides(store));
		} catch (error) {
			if (!(error instanceof CallError) || error.kind !== "slashCommand") throw error;
			await app.connection.value!.call("slashCommand/execute", { threadId: store.id, text: content });
		}
	};
	const accept = (s: Suggestion) => {
		if (s.disabled) return;
		const el = area.current!;
		const start = tokenStart(text, el.selectionStart);
		setText(text.slice(0, start) + s.insert + " " + text.slice(el.selectionStart));
		el.focus();
	};
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.isComposing) return;
		if (suggest.list.length > 0) {
			if (e.key === "ArrowDown" || e.key === "ArrowUp") {
				suggest.move(e.key === "ArrowDown" ? 1 : -1);
				e.preventDefault();
				return;
			}
			if (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey && suggest.list[suggest.at]!.insert !== text.trim())) {
				accept(suggest.list[suggest.at]!);
				e.preventDefault();
				return;
			}
			if (e.key === "Escape") {
				suggest.close();
				e.preventDefault();
				return;
			}
		}
		if (e.key === "Enter" && !e.shiftKey) {
			e.preventDefault();
			void send();
		} else if (e.key === "ArrowUp" && text === "") {
			e.preventDefault();
			store.lastMessage().then((last) => reveal.draft(last, ""), (error) => store.report(error));
		} else if (e.key === "Escape" && text === "") {
			if (Date.now() - escape.current < 600) openRewind(store);
			escape.current = Date.now();
		}
	};
	const attach = async (files: Iterable<File>) => {
		for (const f of files) {
			if (!f.type.startsWith("image/")) continue;
			if (f.size > maxImageBytes) {
				store.notice("warning", `${f.name} is larger than 10 MB and was not attached.`);
				continue;
			}
			const url = await dataURL(f);
			setImages((list) => [...list, { name: f.name, url }]);
		}
	};
	return (
		<form class="composer" aria-label="Message" onSubmit={(e) => {
			e.preventDefault();
			void send();
		}}>
			{suggest.list.length > 0 && (
				<div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions">
					{suggest.list.map((s, i) => (
						<div role="option" id={`suggestion-${i}`} aria-selected={i === suggest.at} aria-disabled={s.disabled !== undefined}
							class="suggestion" onPointerDown={(e) => {
								e.preventDefault();
								accept(s);
							}}>
							<code>{s.label}</code><span class="faint ellipsis">{s.disabled ?? s.detail}</span>
						</div>
					))}
				</div>
			)}
			{images.length > 0 && (
				<div class="attachments">
					{images.map((image, i) => (
						<span class="attachment">
							<img src={image.url} alt={image.name} />
							<button type="button" class="quiet" aria-label={`Remove ${image.name}`} onClick={() => setImages(images.filter((_, k) => k !== i))}><Icon name="x" /></button>
						</span>
					))}
				</div>
			)}
			<textarea ref={area} value={text} rows={1} aria-label="Message" disabled={store.phase.value === "locked" || store.phase.value === "archived"}
				aria-autocomplete="list" aria-controls={suggest.list.length > 0 ? "suggestions" : undefined}
				aria-activedescendant={suggest.list.length > 0 ? `suggestion-${suggest.at}` : undefined}
				placeholder={running ? "Write to steer the agent…" : "Message the agent. @ files, / commands, $ skills, ! shell"}
				onInput={(e) => setText(e.currentTarget.value)} onKeyDown={onKeyDown}
				onPaste={(e) => void attach(e.clipboardData?.files ?? [])} />
			<div class="composer-bar">
				<label class="quiet file" title="Attach images">
					<Icon name="image" /><span class="visually-hidden">Attach images</span>
					<input type="file" accept="image/*" multiple onChange={(e) => void attach(e.currentTarget.files ?? [])} />
				</label>
				{!running && <TurnOptions store={store} choice={choice} />}
				<span class="spacer" />
				{images.length > 0 && <span class="faint">{plural(images.length, "image")}</span>}
				{running && (
					<button type="button" class="stop" title="Interrupt the turn (Ctrl+.)" onClick={() => void store.interrupt().catch((e) => store.report(e))}>
						<Icon name="stop" />Stop
					</button>
				)}
				<button type="submit" class="primary" disabled={!writable || sending || (text.trim() === "" && images.length === 0)}>
					<Icon name="send" />{running ? "Steer" : "Send"}
				</button>
			</div>
		</form>
	);
}

function dataURL(f: File): Promise<string> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result as string);
		reader.onerror = () => reject(reader.error!);
		reader.readAsDataURL(f);
	});
}

/** tokenStart returns the start of the word at a position. */
function tokenStart(text: string, at: number): number {
	let i = at;
	while (i > 0 && !/\s/.test(text[i - 1]!)) i--;
	return i;
}

interface Suggestions {
	list: readonly Suggestion[];
	at: number;
	move(by: number): void;
	close(): void;
}

let commands: Promise<readonly SlashCommand[]> | null = null;

/** useSuggestions completes the word before the caret: / commands, $ skills and @ files. */
function useSuggestions(store: ThreadStore, text: string, caret: number, running: boolean): Suggestions {
	const [list, setList] = useState<readonly Suggestion[]>([]);
	const [at, setAt] = useState(0);
	const [closedFor, setClosedFor] = useState("");
	const start = tokenStart(text, caret);
	const word = text.slice(start, caret);
	useEffect(() => {
		let live = true;
		const show = (found: readonly Suggestion[]) => {
			if (!live) return;
			setList(found.slice(0, maxSuggestions));
			setAt(0);
		};
		if (word === closedFor || !/^[@/$]/.test(word) || (word[0] === "/" && start !== 0)) show([]);
		else if (word[0] === "/") void commandSuggestions(word, running).then(show, () => show([]));
		else if (word[0] === "$") void skillSuggestions(store, word).then(show, () => show([]));
		else {
			const timer = setTimeout(() => void fileSuggestions(store, word).then(show, () => show([])), 120);
			return () => {
				live = false;
				clearTimeout(timer);
			};
		}
		return () => {
			live = false;
		};
	}, [word, running, closedFor]);
	return {
		list, at: Math.min(at, Math.max(0, list.length - 1)),
		move: (by) => setAt((at + by + list.length) % Math.max(1, list.length)),
		close: () => setClosedFor(word),
	};
}

async function commandSuggestions(word: string, running: boolean): Promise<Suggestion[]> {
	commands ??= app.connection.value!.call("slashCommand/list", {});
	const list = await commands.catch((error: unknown) => {
		commands = null;
		throw error;
	});
	return list.filter((c) => `/${c.name}`.startsWith(word)).map((c) => ({
		label: `/${c.name}`, detail: c.description, insert: `/${c.name}`,
		...(running && !c.availableDuringTurn ? { disabled: "not available during a turn" } : {}),
	}));
}

async function skillSuggestions(store: ThreadStore, word: string): Promise<Suggestion[]> {
	const cwd = store.thread.value?.cwd;
	const result = await app.connection.value!.call("skills/list", cwd ? { cwds: [cwd] } : {});
	const skills = result.data.flatMap((d) => d.skills);
	return skills.filter((s) => `$${s.name}`.toLowerCase().startsWith(word.toLowerCase()))
		.map((s) => ({ label: `$${s.name}`, detail: s.description, insert: `$${s.name}` }));
}

async function fileSuggestions(store: ThreadStore, word: string): Promise<Suggestion[]> {
	const cwd = store.thread.value?.cwd;
	if (!cwd) return [];
	const found = await app.connection.value!.call("fuzzyFileSearch", { query: word.slice(1), roots: [cwd], cancellationToken: "composer" });
	return found.files.map((f) => ({ label: `@${f.path}`, detail: "", insert: f.path }));
}
