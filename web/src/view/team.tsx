// The team of a thread: who works for it, what each agent does and spends, and the way back to the parent.

import { useEffect, useState } from "preact/hooks";
import { allThreads, connected } from "../store/app.ts";
import { moneyText } from "../store/money.ts";
import { sumOf, Team, type Phase, type Spent } from "../store/team.ts";
import type { ThreadStore } from "../store/thread.ts";
import { agentName, titleOf } from "../store/titles.ts";
import { Icon } from "../lib/icons.tsx";
import { count, plural, short, visible } from "../lib/format.ts";
import type { Thread } from "../wire/types.ts";

/** maxShown is the number of agents that are shown at first. */
const maxShown = 8;

/** phaseWords are what agents do, as people read it. */
export const phaseWords: Record<Phase, string> = {
	starts: "starts", runs: "runs", waits: "waits for agents", asks: "asks you", done: "done", interrupted: "interrupted",
	failed: "failed", closed: "closed",
};

const dots: Partial<Record<Phase, string>> = {
	starts: "working", runs: "working", waits: "working", asks: "waiting", failed: "failed", interrupted: "failed",
};

/** PhaseView shows what an agent does, with a sign. */
export function PhaseView({ phase }: { phase: Phase }) {
	return (
		<span class={`dot dot-${dots[phase] ?? "calm"} phase`}>
			{phase === "done" ? <Icon name="check" /> : <i aria-hidden="true" />}{phaseWords[phase]}
		</span>
	);
}

/** TeamRow is above the conversation of a thread that has agents, or is one. */
export function TeamRow({ store }: { store: ThreadStore }) {
	const team = store.part(Team);
	const ready = connected();
	useEffect(() => {
		if (ready) void team.read();
	}, [team, ready]);
	const thread = store.settings.thread.value;
	const members = team.members.value;
	return (
		<section class="team" aria-label="Team">
			{thread?.parentThreadId && <Parent thread={thread} id={thread.parentThreadId} />}
			{members.length > 0 && <Members team={team} store={store} members={members} />}
		</section>
	);
}

function Parent({ thread, id }: { thread: Thread; id: string }) {
	const parent = allThreads().find((t) => t.id === id);
	return (
		<p class="team-parent">
			<Icon name="spark" />
			<span><b>{visible(agentName(thread))}</b>{thread.agentRole && ` (${visible(thread.agentRole)})`} is an agent of{" "}
				<a href={`#/thread/${id}`}>{parent ? visible(titleOf(parent)) : "another thread"}</a></span>
		</p>
	);
}

function Members({ team, store, members }: { team: Team; store: ThreadStore; members: readonly Thread[] }) {
	const [all, setAll] = useState(false);
	const spent = team.spent.value;
	const busy = (t: Thread) => ["starts", "runs", "waits", "asks"].includes(team.phaseOf(t.id) ?? "");
	const newest = new Set(members.slice(-maxShown));
	const shown = all || members.length <= maxShown ? members : members.filter((t) => busy(t) || newest.has(t));
	const sum = sumOf([store.id, ...members.map((t) => t.id)].flatMap((id) => spent.get(id) ?? []));
	return (
		<div class="team-members">
			<ul aria-label="Agents">{shown.map((t) => <Member key={t.id} thread={t} team={team} spent={spent.get(t.id)} />)}</ul>
			{shown.length < members.length && (
				<button type="button" class="small" onClick={() => setAll(true)}>Show all {plural(members.length, "agent")}</button>
			)}
			{sum.tokens > 0 && <p class="team-sum" title="This thread and its agents, all requests">
				Together <b><Amount spent={sum} /></b></p>}
		</div>
	);
}

function Member({ thread, team, spent }: { thread: Thread; team: Team; spent: Spent | undefined }) {
	const phase = team.phaseOf(thread.id);
	return (
		<li>
			<a class={`agent-chip ${phase === "closed" ? "closed" : ""}`} href={`#/thread/${thread.id}`} title={visible(thread.preview)}>
				<b>{visible(agentName(thread))}</b>
				{thread.agentRole && <span class="faint">{visible(thread.agentRole)}</span>}
				{phase && <PhaseView phase={phase} />}
				{spent && <span class="tokens"><Amount spent={spent} /></span>}
			</a>
		</li>
	);
}

function Amount({ spent: { tokens, money } }: { spent: Spent }) {
	return <><span title={`${count(tokens)} tokens in all requests`}>{short(tokens)} tokens</span>{money && ` · ${moneyText(money)}`}</>;
}
