// The dialog that runs a past request again in a fork, and shows both answers side by side.

import { useEffect, useMemo, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { categoryName } from "../wire/contextwords.ts";
import { closeDialog } from "../store/dialog.ts";
import { moneyText } from "../store/money.ts";
import { Rerun, type RunAnswer } from "../store/rerun.ts";
import type { ThreadStore } from "../store/thread.ts";
import { titleOf } from "../store/titles.ts";
import { Icon } from "../lib/icons.tsx";
import { count, duration, plural, visible } from "../lib/format.ts";
import type { PromptPart } from "../lib/promptdiff.ts";
import { toggled } from "../lib/toggled.ts";
import type { ModelRequestUsage, SandboxMode } from "../wire/types.ts";
import { ItemName, type Names } from "./edititems.tsx";
import { AnswerItems } from "./rerunitems.tsx";
import { Frame } from "./frame.tsx";
import { useResource } from "./useresource.ts";

interface Props {
	store: ThreadStore;
	request: ModelRequestUsage;
	parts: readonly PromptPart[];
	exact: boolean;
}

/** RerunDialog asks how a request runs again, and then compares the answers. */
export function RerunDialog(p: Props) {
	const { store, request } = p;
	const run = useMemo(() => new Rerun(store.requests, request, app.connection.value!.watch,
		() => store.settings.thread.peek()?.cwd), []);
	const opened = useMemo(() => ({ fork: false }), []);
	useEffect(() => () => run.dispose(opened.fork), []);
	return run.forkId.value === "" || run.turnId.value === "" ? <Choice {...p} run={run} />
		: <Comparison run={run} open={() => {
			opened.fork = true;
			const fork = run.forkId.peek();
			closeDialog();
			app.show(fork);
		}} />;
}

const sandboxes: readonly [SandboxMode, string][] = [
	["read-only", "read files only"], ["workspace-write", "change files in the folder, without network"],
];

function Choice({ store, request, parts, exact, run }: Props & { run: Rerun }) {
	const [model, setModel] = useState("");
	const [sandbox, setSandbox] = useState<SandboxMode>("read-only");
	const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
	const [replaced, setReplaced] = useState<ReadonlyMap<string, string>>(new Map());
	const models = useResource(() => store.requests.call("model/list", { modelProvider: request.provider }), []);
	const others = (models.value.value?.data ?? []).filter((m) => m.model !== request.model);
	const title = store.settings.thread.value ? titleOf(store.settings.thread.value) : "Thread";
	const start = async () => {
		await run.start({ model, sandbox, excluded, replaced, name: `${title} (again with ${model || request.model})` });
		return false; // the dialog shows the answers now
	};
	return (
		<Frame wide title="Run the request again in a fork" action="Run" run={start}>
			<p>The fork is a new thread with the context of this request. The request is sent with the tools and settings of now. This thread does not change.</p>
			{!exact && <p class="banner warning"><Icon name="warning" /><span>The past request cannot be rebuilt byte for byte. The fork has what the rollout gives.</span></p>}
			<div class="rerun-choice">
				<label class="field"><span>Model</span>
					<select value={model} onChange={(e) => setModel(e.currentTarget.value)}>
						<option value="">{visible(request.model)} (as then)</option>
						{others.map((m) => <option key={m.id} value={m.model}>{visible(m.displayName)}</option>)}
					</select>
				</label>
				<label class="field"><span>What tools may do</span>
					<select value={sandbox} aria-describedby="rerun-tools"
						onChange={(e) => setSandbox(e.currentTarget.value as SandboxMode)}>
						{sandboxes.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
					</select>
				</label>
			</div>
			<p id="rerun-tools" class={sandbox === "read-only" ? "faint" : "warn-text"}>
				{sandbox === "read-only" ? "The answer may call tools, and they run. Commands only read files. "
					: "The answer may call tools, and they run. Commands change the files of the folder as they are now. "}
				Nothing is asked: what the sandbox forbids fails. Tools of MCP servers are outside of the sandbox.
				A change of the sandbox adds an environment context to the request.</p>
			<Items store={store} parts={parts} excluded={excluded} replaced={replaced} setExcluded={setExcluded}
				setReplaced={setReplaced} />
		</Frame>
	);
}

interface ItemsProps {
	store: ThreadStore;
	parts: readonly PromptPart[];
	excluded: ReadonlySet<string>;
	replaced: ReadonlyMap<string, string>;
	setExcluded(ids: ReadonlySet<string>): void;
	setReplaced(texts: ReadonlyMap<string, string>): void;
}

interface ItemRow {
	id: string;
	title: string;
	/** text is the text of an output that can be replaced, or null. */
	text: string | null;
}

/** Items lists the context items of the request. Each can be left out, and outputs be replaced. */
function Items({ store, parts, excluded, replaced, setExcluded, setReplaced }: ItemsProps) {
	const [editing, setEditing] = useState("");
	const items = store.context.items.value;
	const names = useMemo<Names>(() => new Map(items.map((i) => [i.id, i])), [items]);
	const rows = useMemo<ItemRow[]>(() => parts.flatMap((p) => (p.sources ?? []).map((id) => (
		{ id, title: p.title, text: p.isOutput && p.sources!.length === 1 ? p.text : null }))), [parts]);
	const setText = (id: string, text: string | null) => {
		const next = new Map(replaced);
		if (text === null) next.delete(id);
		else next.set(id, text);
		setReplaced(next);
	};
	return (
		<fieldset class="rerun-items">
			<legend>Items of the request <span class="faint">{plural(rows.length, "item")}, {count(excluded.size)} left out, {count(replaced.size)} replaced</span></legend>
			<ul class="scroll" tabIndex={0} aria-label="Items of the request">
				{rows.map(({ id, title, text }, i) => {
					const item = names.get(id);
					const changed = replaced.get(id);
					return (
						<li key={id}>
							<div class="rerun-item">
								<label class="option"><input type="checkbox" checked={!excluded.has(id)} onChange={() => setExcluded(toggled(excluded, id))} />
									<span class={`category cat-${item?.category ?? "other"}`}><i aria-hidden="true" />{item ? categoryName(item.category) : visible(title)}</span>
									<span class="ellipsis">
										<ItemName store={store} id={id} names={names} reads={i >= rows.length - maxRead} /></span></label>
								{changed !== undefined && <span class="badge edited">replaced</span>}
								{item && <span class="tokens" title="tokens in the next request of this thread">{count(item.tokens)}</span>}
								{text !== null && <button type="button" class="small" aria-expanded={editing === id} aria-label={`Replace ${id}`}
									onClick={() => setEditing(editing === id ? "" : id)}>Replace…</button>}
							</div>
							{editing === id && text !== null && (
								<div class="rerun-text">
									<textarea rows={6} class="mono" aria-label="New text of the item" value={changed ?? text} onInput={(e) => setText(id, e.currentTarget.value)} />
									{changed !== undefined && <button type="button" class="small" onClick={() => setText(id, null)}>Back to the text that was sent</button>}
								</div>
							)}
						</li>
					);
				})}
			</ul>
		</fieldset>
	);
}

/** maxRead is the number of the last items that are read from the server if the list does not have them any more. */
const maxRead = 30;

function Comparison({ run, open }: { run: Rerun; open(): void }) {
	const [failure, setFailure] = useState("");
	const running = run.running.value;
	const attempt = (todo: Promise<void>) => void todo.catch((error: Error) => setFailure(error.message));
	const failed = failure || run.failure.value;
	return (
		<Frame wide title="Both answers" close="Keep the fork" extra={
			<>
				{running ? <button type="button" onClick={() => attempt(run.interrupt())}><Icon name="stop" />Stop</button>
					: <button type="button" class="danger-button" onClick={() => attempt(run.remove().then(closeDialog))}>Delete the fork</button>}
				<button type="button" class="primary" onClick={open}>Open the fork</button>
			</>
		}>
			{failed !== "" && <p class="error-text" role="alert">{visible(failed)}</p>}
			<div class="answers">
				<Answer title="As it was" answer={run.before.value} />
				<Answer title="In the fork" answer={run.after.value} streamed={run.streamed.value} />
			</div>
		</Frame>
	);
}

const statuses: Record<string, string> = { inProgress: "in progress", completed: "completed", interrupted: "interrupted", failed: "failed" };

function Answer({ title, answer, streamed = "" }: { title: string; answer: RunAnswer | null; streamed?: string }) {
	return (
		<section class="answer" aria-label={title} aria-busy={answer === null || answer.status === "inProgress"}>
			<h3>{title} {answer && <span class="faint">{visible(answer.model)}</span>}</h3>
			{answer === null ? <p class="faint">Reading…</p> : (
				<>
					<dl>
						<dt>State</dt><dd><span role="status">{statuses[answer.status] ?? "unknown"}</span></dd>
						<dt>Tokens</dt><dd>{count(answer.inputTokens)} in{answer.cachedTokens > 0 && ` (${count(answer.cachedTokens)} cached)`}, {count(answer.outputTokens)} out, {plural(answer.requests, "request")}</dd>
						<dt>Money</dt><dd>{answer.money ? moneyText(answer.money) : "no known price"}</dd>
						<dt>Time</dt><dd>{answer.tookMs === null ? "not known yet" : duration(answer.tookMs)}</dd>
					</dl>
					{answer.error !== "" && <p class="error-text">{visible(answer.error)}</p>}
					<div class="answer-items scroll" tabIndex={0} role="group" aria-label={`Items: ${title}`}><AnswerItems items={answer.items} streamed={streamed} /></div>
				</>
			)}
		</section>
	);
}
