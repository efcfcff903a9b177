// Open questions of the server, above the composer.

import { useEffect, useState } from "preact/hooks";
import { isInTeam } from "../store/agents.ts";
import * as app from "../store/app.ts";
import { answered, questions, setLater, type Question } from "../store/questions.ts";
import { Team } from "../store/team.ts";
import { ThreadStore } from "../store/thread.ts";
import { pathOf } from "../store/titles.ts";
import { Icon } from "../lib/icons.tsx";
import { visible } from "../lib/format.ts";
import { Buttons, CommandQuestion, failedItem, FileQuestion, KeysHint } from "./approval.tsx";
import type { McpServerElicitationRequestParams, ToolRequestUserInputParams } from "../wire/types.ts";

/** Dock has a card for each open question of a thread. */
export function Dock({ store }: { store: ThreadStore }) {
	const team = store.part(Team);
	const isOwn = (q: Question) => q.threadId === store.id || q.threadId === "";
	const open = questions.value.filter((q) => isOwn(q) || isInTeam(q.threadId, store.id));
	if (open.length === 0) return null;
	return (
		<section class="dock" aria-label="Questions">
			{open.map((q) => <Card key={String(q.id)} q={q} store={isOwn(q) ? store
				: team.storeOf(q.threadId, () => new ThreadStore(q.threadId, app.connection.value!))} here={store.id} />)}
		</section>
	);
}

/** useGuard reports whether a question accepts input. It ignores input for a moment after it appears. */
function useGuard(q: Question): boolean {
	const [ready, setReady] = useState(Date.now() >= q.shownAt);
	useEffect(() => {
		const wait = q.shownAt - Date.now();
		if (wait <= 0) {
			setReady(true);
			return;
		}
		setReady(false);
		const timer = setTimeout(() => setReady(true), wait);
		return () => clearTimeout(timer);
	}, [q.shownAt]);
	return ready;
}

function titleOf(q: Question, store: ThreadStore): string {
	switch (q.request.method) {
		case "item/commandExecution/requestApproval":
			return failedItem(store, q.request.params) ? "The command failed. May it run again?" : "May this command run?";
		case "item/fileChange/requestApproval":
			return "May these files be changed?";
		case "mcpServer/elicitation/request":
			return `${visible(q.request.params.serverName)} asks`;
		case "item/tool/requestUserInput":
			return "The agent asks";
		default:
			return "A tool of this client was called";
	}
}

interface CardProps {
	q: Question;
	/** store has the thread that asks, and here is the id of the open one. */
	store: ThreadStore;
	here: string;
}

/** Asker says which agent asks, if the thread is one. */
function Asker({ id, here }: { id: string; here: string }) {
	const thread = app.allThreads().find((t) => t.id === id);
	if (!thread?.parentThreadId) return null;
	const path = visible(pathOf(id, app.allThreads()));
	return (
		<p class="question-asker"><Icon name="spark" />
			<span>{id === here ? path : <a href={`#/thread/${id}`}>{path}</a>} asks</span></p>
	);
}

function Card({ q, store, here }: CardProps) {
	const ready = useGuard(q) && !q.stale;
	const title = titleOf(q, store);
	const answer = (result: unknown) => {
		if (!ready || q.resolved) return;
		app.connection.value!.answer(q.id, result);
		answered(q.id);
	};
	if (q.resolved) {
		return <div class="question done" role="status"><Icon name="check" />{title} <span class="faint">Answered elsewhere.</span></div>;
	}
	if (q.later) {
		return (
			<div class="question later">
				<Icon name="bell" /><span>{title}</span><span class="spacer" />
				<button type="button" onClick={() => setLater(q.id, false)}>Show</button>
			</div>
		);
	}
	return (
		<div class="question" role="group" aria-label={title} data-question tabIndex={-1}>
			<div class="question-head">
				<Icon name="bell" /><h2>{title}</h2><span class="spacer" />
				<button type="button" class="quiet" onClick={() => setLater(q.id, true)}>Later</button>
			</div>
			<Asker id={q.threadId} here={here} />
			<Body q={q} store={store} ready={ready} answer={answer} />
		</div>
	);
}

interface BodyProps {
	q: Question;
	store: ThreadStore;
	ready: boolean;
	answer(result: unknown): void;
}

function Body({ q, store, ready, answer }: BodyProps) {
	switch (q.request.method) {
		case "item/commandExecution/requestApproval":
			return <CommandQuestion p={q.request.params} store={store} ready={ready} answer={answer} />;
		case "item/fileChange/requestApproval":
			return <FileQuestion p={q.request.params} store={store} ready={ready} answer={answer} />;
		case "item/tool/requestUserInput":
			return <InputQuestion p={q.request.params} ready={ready} answer={answer} />;
		case "mcpServer/elicitation/request":
			return <Elicitation p={q.request.params} ready={ready} answer={answer} />;
		default:
			return (
				<>
					<p>This page has no tools. Another client may answer.</p>
					<Buttons><button type="button" disabled={!ready} onClick={() => answer({ contentItems: [], success: false })}>Fail the call</button></Buttons>
				</>
			);
	}
}

interface FormProps<P> {
	p: P;
	ready: boolean;
	answer(result: unknown): void;
}

function InputQuestion({ p, ready, answer }: FormProps<ToolRequestUserInputParams>) {
	const [answers, setAnswers] = useState<Record<string, string>>({});
	const complete = p.questions.every((q) => (answers[q.id] ?? "") !== "");
	const submit = () => answer({
		answers: Object.fromEntries(p.questions.map((q) => [q.id, { answers: [answers[q.id] ?? ""] }])),
	});
	return (
		<>
			{p.questions.map((q) => (
				<fieldset>
					<legend>{visible(q.question)}</legend>
					{q.options.map((o) => (
						<label class="option">
							<input type="radio" name={q.id} checked={answers[q.id] === o.label}
								onChange={() => setAnswers({ ...answers, [q.id]: o.label })} />
							<span>{visible(o.label)}<span class="faint"> {visible(o.description)}</span></span>
						</label>
					))}
					{(q.isOther || q.options.length === 0) && (
						<input {...inputType(q.isSecret ? "password" : "text")} aria-label={q.options.length > 0 ? "Another answer"
							: visible(q.question)}
							placeholder={q.options.length > 0 ? "Another answer" : ""} autocomplete="off"
							onInput={(e) => setAnswers({ ...answers, [q.id]: e.currentTarget.value })} />
					)}
				</fieldset>
			))}
			<Buttons><button type="button" class="primary" disabled={!ready || !complete} onClick={submit}>Answer</button></Buttons>
		</>
	);
}

/** inputType sets a type that is known at run time only. */
function inputType(type: string): { type: "text" } {
	return { type: type as "text" };
}

interface Property {
	type?: string;
	title?: string;
	description?: string;
	enum?: string[];
	default?: unknown;
}

function Elicitation({ p, ready, answer }: FormProps<McpServerElicitationRequestParams>) {
	const schema = (p.requestedSchema ?? {}) as { properties?: Record<string, Property>; required?: string[] };
	const properties = Object.entries(schema.properties ?? {});
	const [values, setValues] = useState<Record<string, unknown>>(() =>
		Object.fromEntries(properties.flatMap(([name, s]) => (s.default === undefined ? [] : [[name, s.default]]))));
	const missing = (schema.required ?? []).some((name) => values[name] === undefined || values[name] === "");
	const set = (name: string, value: unknown) => setValues({ ...values, [name]: value });
	return (
		<>
			<p class="pre">{visible(p.message)}</p>
			{p.url && <p>Open <a href={/^https?:/.test(p.url) ? p.url : undefined} target="_blank" rel="noopener noreferrer">{visible(p.url)}</a></p>}
			{properties.map(([name, s]) => (
				<label class="field">
					<span>{visible(s.title ?? name)}</span>
					{s.enum ? (
						<select value={String(values[name] ?? "")} onChange={(e) => set(name, e.currentTarget.value)}>
							<option value="" />{s.enum.map((v) => <option value={v}>{visible(v)}</option>)}
						</select>
					) : s.type === "boolean" ? (
						<input type="checkbox" checked={values[name] === true} onChange={(e) => set(name, e.currentTarget.checked)} />
					) : (
						<input {...inputType(s.type === "number" || s.type === "integer" ? "number" : "text")}
							value={String(values[name] ?? "")}
							onInput={(e) => set(name, s.type === "number" || s.type === "integer" ? e.currentTarget.valueAsNumber
								: e.currentTarget.value)} />
					)}
					{s.description && <span class="faint">{visible(s.description)}</span>}
				</label>
			))}
			<Buttons>
				<button type="button" class="primary" data-answer="y" disabled={!ready || missing} onClick={() => answer({ action: "accept", content: values })}>Accept<kbd aria-hidden="true">Y</kbd></button>
				<button type="button" data-answer="n" disabled={!ready} onClick={() => answer({ action: "decline", content: null })}>Decline<kbd aria-hidden="true">N</kbd></button>
				<button type="button" data-answer="c" disabled={!ready} onClick={() => answer({ action: "cancel", content: null })}>Cancel<kbd aria-hidden="true">C</kbd></button>
			</Buttons>
			<KeysHint keys="Y, N or C" />
		</>
	);
}
