// The items of a turn.

import type { ComponentChildren } from "preact";
import { messageText } from "../store/items.ts";
import type { Entry } from "../store/timeline.ts";
import type { ThreadStore } from "../store/thread.ts";
import { longOutput, shortOutput, terminal } from "../lib/ansi.tsx";
import { Markdown } from "../lib/markdown.tsx";
import { Icon, type IconName } from "../lib/icons.tsx";
import { duration, firstLine, plural, relative, visible } from "../lib/format.ts";
import { waits } from "../store/questions.ts";
import { lazy } from "../lib/lazy.tsx";
import { scriptOf } from "../lib/shell.ts";
import { FollowedOutput } from "../lib/follow.tsx";
import { openPath } from "../lib/openpath.ts";
import { openOutput } from "./openfile.tsx";
import { DiffView, diffCounts } from "./diff.tsx";
import { Fold } from "./fold.tsx";
import { Facts } from "./itemfacts.tsx";
import { showPanel } from "../store/panels.ts";
import type {
	CommandExecutionItem, DynamicToolCallItem, FileChangeItem, McpToolCallItem, ReasoningItem, ThreadItem,
	UserInput, UserMessageItem,
} from "../wire/types.ts";

const AgentCall = lazy(() => import("./agentcall.tsx").then((m) => m.AgentCall));
const AgentActivity = lazy(() => import("./agentcall.tsx").then((m) => m.AgentActivity));

interface Props {
	entry: Entry;
	turnId: string;
	item: ThreadItem;
	store: ThreadStore;
}

/** ItemView shows an item. Long items come in a short form, with a button that reads the rest. */
export function ItemView(p: Props) {
	const { entry, item, store } = p;
	return (
		<>
			<Content {...p} />
			{entry.data.type === "item" && !entry.whole && (entry.data.truncated || isLong(item)) && (
				<p class="truncated"><span class="faint">Long texts of this item are cut.</span>
					<button type="button" class="small" onClick={() => void store.items.readItem(entry)}>Show all</button></p>
			)}
		</>
	);
}

/** isLong reports whether an item that came live has more output than is shown. */
function isLong(item: ThreadItem): boolean {
	return item.type === "commandExecution" && item.status !== "inProgress" &&
		(item.aggregatedOutput?.length ?? 0) > shortOutput;
}

function Content(p: Props) {
	const { entry, item, store } = p;
	const head = <Facts {...p} />;
	switch (item.type) {
		case "userMessage":
			return <Message who={isTask(p.store, item) ? "Task" : "You"} icon="user" class="user" head={head}>
				<UserContent content={item.content} />
			</Message>;
		case "agentMessage":
			return <Message who="Agent" icon="spark" class="agent" head={head}>
				<Markdown text={item.text} blocks={entry.blocks} />
			</Message>;
		case "plan":
			return <Message who="Plan" icon="list" class="agent" head={head}>
				<Markdown text={item.text} blocks={entry.blocks} />
			</Message>;
		case "reasoning":
			return <Reasoning item={item} head={head} />;
		case "commandExecution":
			return <Command {...p} item={item} head={head} />;
		case "fileChange":
			return <FileChanges item={item} cwd={store.settings.thread.value?.cwd ?? ""} head={head} />;
		case "mcpToolCall":
		case "dynamicToolCall":
			return <ToolCall item={item} head={head} />;
		case "collabAgentToolCall":
			return <AgentCall item={item} store={store} head={head} />;
		case "subAgentActivity":
			return <AgentActivity item={item} />;
		case "webSearch":
			return <Line icon="search" head={head}>Web search: {visible(item.query)}</Line>;
		case "imageView":
			return <Line icon="image" head={head}>Image: <code>{visible(item.path)}</code></Line>;
		case "contextCompaction":
			return <Line icon="compress">
				{item.completedAtMs === null ? "Compacting the context…" : "The context was compacted."}</Line>;
		case "enteredReviewMode":
			return <Line icon="eye">Review started: {visible(item.review)}</Line>;
		case "exitedReviewMode":
			return <Line icon="eye">Review finished: {firstLine(visible(item.review), 80)} <ShowFindings /></Line>;
		default:
			return <Line icon="more">Unknown item: {(item as { type: string }).type}</Line>;
	}
}

/** isTask reports whether a message is the task that the parent of an agent gave it. */
function isTask(store: ThreadStore, item: UserMessageItem): boolean {
	const thread = store.settings.thread.value;
	return !!thread?.parentThreadId && messageText(item) === thread.preview;
}

function ShowFindings() {
	return <button type="button" class="small" onClick={() => showPanel("changes")}>Show findings</button>;
}

interface MessageProps {
	who: string;
	icon: IconName;
	class: string;
	head: ComponentChildren;
	children: ComponentChildren;
}

function Message(p: MessageProps) {
	return (
		<div class={`message ${p.class}`}>
			<div class="message-head">
				<span class="who"><Icon name={p.icon} />{p.who}</span>
				{p.head}
			</div>
			{p.children}
		</div>
	);
}

function UserContent({ content }: { content: readonly UserInput[] }) {
	return (
		<>
			{content.map((part) => {
				switch (part.type) {
					case "text":
						return <p class="pre">{part.text}</p>;
					case "image":
						return part.url.startsWith("data:image/")
							? <img class="attached" src={part.url} alt="attached image" />
							: <p class="chip"><Icon name="image" />{visible(part.url)}</p>;
					case "localImage":
						return <p class="chip"><Icon name="image" />{visible(part.path)}</p>;
					case "skill":
						return <p class="chip"><Icon name="tool" />{visible(part.name)}</p>;
					case "mention":
						return <p class="chip"><Icon name="file" />{visible(part.name)}</p>;
					default:
						return <p class="chip"><Icon name="file" />{part.type}</p>;
				}
			})}
		</>
	);
}

function Line({ icon, head, children }: { icon: IconName; head?: ComponentChildren; children: ComponentChildren }) {
	return <div class="line"><Icon name={icon} /><span class="line-text">{children}</span>{head}</div>;
}

function Reasoning({ item, head }: { item: ReasoningItem; head: ComponentChildren }) {
	const text = item.summary.length > 0 ? item.summary.join("\n\n") : item.content.join("\n\n");
	return (
		<Fold icon="spark" class="reasoning" head={head} title={<span class="faint ellipsis">Reasoning: {firstLine(text, 120) || "…"}</span>}>
			<p class="pre faint">{text}</p>
		</Fold>
	);
}

/** smallOutput is the number of characters of an output that needs no larger view. */
const smallOutput = 400;

type CommandProps = Props & { item: CommandExecutionItem; head: ComponentChildren };

function Command({ item, entry, turnId, store, head }: CommandProps) {
	const running = item.status === "inProgress";
	const failed = item.status === "failed" || (item.exitCode !== null && item.exitCode !== 0);
	const output = item.aggregatedOutput ?? "";
	return (
		<Fold icon="terminal" class="command" open={running || failed} head={
			<>
				<span class={`outcome ${failed ? "failed" : ""}`}>
					{running ? (waits(item.id) ? "waits for you" : "running") : item.status === "declined" ? "declined"
						: item.exitCode !== null ? `exit ${item.exitCode}` : item.status}
					{item.durationMs !== null && ` · ${duration(item.durationMs)}`}
				</span>
				{head}
			</>
		} title={<code class="ellipsis">{visible(scriptOf(item.command))}</code>}>
			<div class="command-cwd faint">{visible(item.cwd)}</div>
			{output === "" ? <p class="faint">No output{running ? " yet" : ""}.</p>
				: <>
					<FollowedOutput label="output" at={running && output}>
						{terminal(output, entry.whole ? longOutput : shortOutput)}</FollowedOutput>
					{output.length > smallOutput && (
						<button type="button" class="small full-size" onClick={() => openOutput(store, turnId, item.id, item.command)}>
							<Icon name="wide" />Full size</button>
					)}
				</>}
		</Fold>
	);
}

const changeStates: Record<string, string> = {
	inProgress: "to change", completed: "changed", declined: "not changed: declined", failed: "not changed: failed",
};

function FileChanges({ item, cwd, head }: { item: FileChangeItem; cwd: string; head: ComponentChildren }) {
	return (
		<div class="changes">
			<div class="line"><Icon name="file" />
				<span class="line-text">{plural(item.changes.length, "file")} {changeStates[item.status] ?? item.status}</span>
				{head}
			</div>
			{item.changes.map((c) => {
				const { added, removed } = diffCounts(c.diff, c.kind.type);
				return (
					<Fold icon="file" head={
						<button type="button" class="quiet" aria-label={`Open ${visible(relative(c.path, cwd))}`} title="Open the file"
							onClick={() => openPath(c.path, 0)}><Icon name="eye" /></button>
					} title={<>
						<code class="ellipsis" title={visible(c.path)}>{visible(relative(c.path, cwd))}</code>
						<span class="added">+{added}</span><span class="removed">−{removed}</span>
					</>}>
						<DiffView diff={c.diff} kind={c.kind.type} />
					</Fold>
				);
			})}
		</div>
	);
}

function ToolCall({ item, head }: { item: McpToolCallItem | DynamicToolCallItem; head: ComponentChildren }) {
	const name = item.type === "mcpToolCall" ? `${item.server}.${item.tool}` : item.tool;
	const result = item.type === "mcpToolCall" ? item.result ?? item.error : item.contentItems;
	return (
		<Fold icon="tool" class="command" head={<><span class={`outcome ${item.status === "failed" ? "failed" : ""}`}>{item.status}</span>{head}</>}
			title={<code class="ellipsis">{visible(name)}</code>}>
			<div class="faint">Arguments</div>
			<pre class="output" tabIndex={0} aria-label="arguments">{json(item.arguments)}</pre>
			{result && <><div class="faint">Result</div><pre class="output" tabIndex={0} aria-label="result">{json(result)}</pre></>}
		</Fold>
	);
}

const maxJSON = 20_000;

function json(value: unknown): string {
	const text = JSON.stringify(value, null, 2) ?? "";
	return text.length > maxJSON ? text.slice(0, maxJSON) + "\n…" : text;
}
