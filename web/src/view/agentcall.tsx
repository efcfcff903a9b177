// Calls about other agents, in the conversation.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { agents } from "../store/agents.ts";
import { connected } from "../store/app.ts";
import { Team, type Phase } from "../store/team.ts";
import type { ThreadStore } from "../store/thread.ts";
import { agentName } from "../store/titles.ts";
import { Icon, type IconName } from "../lib/icons.tsx";
import { firstLine, visible } from "../lib/format.ts";
import { Blocks } from "../lib/blocks.ts";
import { Markdown } from "../lib/markdown.tsx";
import { Fold } from "./fold.tsx";
import { PhaseView } from "./team.tsx";
import { lineOf } from "../wire/contextwords.ts";
import type { ThreadItem } from "../wire/types.ts";

type Call = Extract<ThreadItem, { type: "collabAgentToolCall" }>;
type Activity = Extract<ThreadItem, { type: "subAgentActivity" }>;

/** words are the calls in progress, those that are done, and those that failed. */
const words: Record<Call["tool"], readonly [string, string, string]> = {
	spawnAgent: ["Starting an agent", "Started", "An agent was not started"],
	sendInput: ["Informing", "Informed", "Not informed:"], sendMessage: ["Informing", "Informed", "Not informed:"],
	followupTask: ["Giving a task to", "Gave a task to", "No task was given to"],
	wait: ["Waiting for", "Waited for", "Waited for"], closeAgent: ["Closing", "Closed", "Not closed:"],
	resumeAgent: ["Opening", "Opened", "Not opened:"], interruptAgent: ["Interrupting", "Interrupted", "Not interrupted:"],
	listAgents: ["Listing the agents", "Listed the agents", "The agents were not listed"],
};

const icons: Partial<Record<Call["tool"], IconName>> = {
	wait: "eye", closeAgent: "x", sendInput: "send", sendMessage: "send",
};

/** nameOf returns the name of an agent, and its role behind it. */
function nameOf(id: string): string {
	const thread = agents.value.find((t) => t.id === id);
	if (!thread) return `agent …${id.slice(-4)}`;
	return visible(agentName(thread)) + (thread.agentRole ? ` (${visible(thread.agentRole)})` : "");
}

interface CallProps {
	item: Call;
	store: ThreadStore;
	head: ComponentChildren;
}

/** AgentCall shows a call: what was done, with whom, and what each of the agents does now. */
export function AgentCall({ item, store, head }: CallProps) {
	const team = store.part(Team);
	const ready = connected();
	const known = item.receiverThreadIds.every((id) => agents.value.some((t) => t.id === id));
	useEffect(() => {
		if (ready && !known) void team.read();
	}, [team, ready]);
	const [doing, done, failed] = words[item.tool] ?? [item.tool, item.tool, item.tool];
	const what = item.status === "inProgress" ? doing : item.status === "completed" ? done : failed;
	const ids = item.receiverThreadIds;
	return (
		<div class="agent-call">
			<div class="line">
				<Icon name={icons[item.tool] ?? "spark"} />
				<span class="line-text">{what} <b>{ids.map(nameOf).join(", ")}</b></span>
				{item.status === "failed" && <span class="outcome failed">failed</span>}
				{ids.length === 1 && <Agent id={ids[0]!} phase={phaseOf(team, item, ids[0]!)} />}
				{head}
			</div>
			{item.status === "failed" && <Failure item={item} store={store} />}
			{item.prompt && <Text title={item.tool === "spawnAgent" ? "Task" : "Message"} text={item.prompt} />}
			{ids.map((id) => <Receiver key={id} id={id} item={item} team={team} line={ids.length > 1} />)}
		</div>
	);
}

/** Failure is the output of a call that did not do what it was for. */
function Failure({ item, store }: { item: Call; store: ThreadStore }) {
	const output = store.context.items.value.find((i) => i.callId === item.id && i.category === "toolOutput");
	const text = output ? lineOf(output).split(" → ").at(-1)! : "";
	return text === "" || item.tool === "wait" ? null : <p class="error-text agent-failure">{visible(text)}</p>;
}

/** phases are the states of a call's end for agents that nothing newer is known of. */
const phases: Partial<Record<string, Phase>> = {
	pendingInit: "starts", running: "runs", interrupted: "interrupted", completed: "done", errored: "failed", shutdown: "closed",
};

function phaseOf(team: Team, item: Call, id: string): Phase | null {
	return team.phaseOf(id) ?? phases[item.agentsStates[id]?.status ?? ""] ?? null;
}

const OpenAgent = ({ id }: { id: string }) => (
	<a class="agent-open" href={`#/thread/${id}`} aria-label={`Open the thread of ${nameOf(id)}`}>Open</a>
);

/** Agent has the state of an agent now, and the way to its thread. */
function Agent({ id, phase }: { id: string; phase: Phase | null }) {
	const known = agents.value.some((t) => t.id === id);
	return (
		<>
			{phase && <PhaseView phase={phase} />}
			{known && <OpenAgent id={id} />}
		</>
	);
}

/** Receiver is an agent of a call, with its result. */
function Receiver({ id, item, team, line }: { id: string; item: Call; team: Team; line: boolean }) {
	const phase = phaseOf(team, item, id);
	const ended = phase !== null && ["done", "failed", "closed", "interrupted"].includes(phase);
	const message = item.tool === "wait" ? item.agentsStates[id]?.message ?? ""
		: item.tool === "spawnAgent" && ended ? team.messageOf(id) : "";
	return (
		<>
			{line && <div class="agent-line"><span class="line-text">{nameOf(id)}</span><Agent id={id} phase={phase} /></div>}
			{message && <Text title={phase === "failed" ? "Error" : "Result"} text={message} markdown />}
		</>
	);
}

function Text({ title, text, markdown }: { title: string; text: string; markdown?: boolean }) {
	const [blocks] = useState(() => new Blocks());
	const first = firstLine(visible(text).replaceAll("**", ""), 160);
	return (
		<Fold icon={markdown ? "check" : "list"} title={<span class="ellipsis">{title}: {first}</span>}>
			{markdown ? <Markdown text={text} blocks={blocks} /> : <p class="pre">{visible(text)}</p>}
		</Fold>
	);
}

const activityWords: Record<Activity["kind"], string> = {
	started: "Started", interacted: "Informed", interrupted: "Interrupted", completed: "Done:",
};

/** AgentActivity is one line about an agent. */
export function AgentActivity({ item }: { item: Activity }) {
	const known = agents.value.some((t) => t.id === item.agentThreadId);
	const name = known ? nameOf(item.agentThreadId) : visible(item.agentPath);
	return (
		<div class="line"><Icon name="spark" />
			<span class="line-text">{activityWords[item.kind]} <b>{name}</b></span>
			<OpenAgent id={item.agentThreadId} />
		</div>
	);
}
