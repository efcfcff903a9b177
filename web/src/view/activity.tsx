// The agent's plan and its sign of life, above the message field.

import { useEffect, useState } from "preact/hooks";
import { questions } from "../store/questions.ts";
import type { ThreadStore } from "../store/thread.ts";
import { Icon } from "../lib/icons.tsx";
import { count, elapsed, visible } from "../lib/format.ts";

/** useClock renders again each second while it runs, and returns the time in milliseconds. */
export function useClock(runs: boolean): number {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		if (!runs) return;
		setNow(Date.now());
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, [runs]);
	return now;
}

/** ActivityLine says what the agent does and for how long, unless it waits for the user or for another attempt. */
export function ActivityLine({ store }: { store: ThreadStore }) {
	const doing = store.activity.doing.value;
	const asks = questions.value.some((q) => q.threadId === store.id && !q.resolved);
	const shown = doing !== null && !asks && store.turns.retrying.value === "";
	const now = useClock(shown);
	if (!shown) return null;
	return (
		<p class="activity faint"><i class="pulse" aria-hidden="true" />{doing.what} · {elapsed(Math.max(now, doing.since) - doing.since)}
			{doing.tokens > 0 && ` · about ${count(doing.tokens)} tokens`}</p>
	);
}

/** RetryBanner names the failure of a model request that is sent again, the attempt, and the wait. */
export function RetryBanner({ store }: { store: ThreadStore }) {
	const cause = store.turns.retrying.value;
	const attempt = store.turns.attempt.value;
	const now = useClock(cause !== "");
	if (cause === "") return null;
	const wait = attempt ? Math.ceil((attempt.at - now) / 1000) : 0;
	return (
		<div class="banner warning" role="status"><Icon name="warning" />
			<span>{attempt && <strong class="attempt">Attempt {attempt.number} of {attempt.limit}{wait > 0 ? `, waits ${wait} s` : ""}. </strong>}
				The model request failed and is sent again: {visible(cause)}</span></div>
	);
}

const stepNames = { completed: "done", inProgress: "in progress", pending: "to do" } as const;

/** PlanCard is the agent's plan as a checklist. Folded, it shows the step in progress. */
export function PlanCard({ store }: { store: ThreadStore }) {
	const { shown, folded } = store.agentPlan;
	const plan = shown.value;
	if (!plan || plan.steps.length === 0) return null;
	const done = plan.steps.filter((s) => s.status === "completed").length;
	const current = plan.steps.find((s) => s.status === "inProgress") ?? plan.steps.find((s) => s.status === "pending");
	return (
		<section class="agent-plan" aria-label="Plan of the agent">
			<button type="button" class="agent-plan-head" aria-expanded={!folded.value} onClick={() => (folded.value = !folded.value)}>
				<span class={`chevron ${folded.value ? "" : "open"}`}><Icon name="chevron" /></span>
				<strong>Plan</strong><span class="faint">{done} of {plan.steps.length} done</span>
				{folded.value && current && <span class="ellipsis">{visible(current.step)}</span>}
			</button>
			{!folded.value && (
				<>
					{plan.explanation && <p class="faint">{visible(plan.explanation)}</p>}
					<ol>
						{plan.steps.map((s) => (
							<li class={`step ${s.status}`}>
								<span class="step-mark" aria-hidden="true">{s.status === "completed" && <Icon name="check" />}</span>
								<span class="step-text">{visible(s.step)}<span class="visually-hidden"> ({stepNames[s.status]})</span></span>
							</li>
						))}
					</ol>
				</>
			)}
		</section>
	);
}
