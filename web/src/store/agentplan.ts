// The agent's plan: the steps of the turn in progress, or of the last turn if it did not finish them.

import { signal } from "@preact/signals";
import { textOfParts } from "../lib/format.ts";
import type { ServerNotification, TurnPlanStep } from "../wire/types.ts";
import type { ContextList } from "./context.ts";
import type { Requests } from "./requests.ts";

/** ShownPlan is the plan of a turn. */
interface ShownPlan {
	turnId: string;
	explanation: string;
	steps: readonly TurnPlanStep[];
}

const tool = "update_plan";
const statuses: Record<string, TurnPlanStep["status"]> = {
	pending: "pending", in_progress: "inProgress", inProgress: "inProgress", completed: "completed",
};

/** AgentPlan has the plan of one thread. */
export class AgentPlan {
	readonly shown = signal<ShownPlan | null>(null);
	/** folded shows the current step only. */
	readonly folded = signal(false);

	constructor(private readonly requests: Requests, private readonly context: ContextList) {}

	/**
	 * restore reads the plan of a turn after a reload. The server notifies of plans once; their calls stay in the context.
	 * ended reports whether the turn has ended.
	 */
	async restore(turnId: string | null, ended: boolean): Promise<void> {
		this.shown.value = null;
		const call = this.context.items.value.findLast((i) =>
			i.turnId === turnId && i.toolName === tool && i.category === "toolCall");
		if (!turnId || !call) return;
		const { call: send, threadId } = this.requests;
		const read = await send("context/readItem", { threadId, id: call.id }).catch(() => null);
		const plan = read && this.shown.peek() === null ? planOf(textOfParts(read.original), turnId) : null;
		if (plan && !(ended && isDone(plan))) this.shown.value = plan;
	}

	/** notified takes the plan, and removes it when it is done or another turn begins. */
	notified(n: ServerNotification): void {
		const shown = this.shown.peek();
		switch (n.method) {
			case "turn/plan/updated":
				this.shown.value = { turnId: n.params.turnId, explanation: n.params.explanation ?? "", steps: n.params.plan };
				return;
			case "turn/started":
				if (shown?.turnId !== n.params.turn.id) this.shown.value = null;
				return;
			case "turn/completed":
				if (shown && isDone(shown)) this.shown.value = null;
				return;
			case "thread/reverted":
				this.shown.value = null;
		}
	}
}

const isDone = ({ steps }: ShownPlan): boolean => steps.every((s) => s.status === "completed");

/** Arguments are those of a call, as far as they are valid. */
interface Arguments {
	explanation?: unknown;
	plan?: { step?: unknown; status?: unknown }[];
}

/** planOf returns the plan of a call, or null. The model wrote the arguments after the name of the tool. */
function planOf(text: string, turnId: string): ShownPlan | null {
	try {
		const { explanation, plan } = JSON.parse(text.slice(text.indexOf("{"))) as Arguments;
		const steps = (plan ?? []).map((p): TurnPlanStep =>
			({ step: String(p.step), status: statuses[String(p.status)] ?? "pending" }));
		return { turnId, explanation: typeof explanation === "string" ? explanation : "", steps };
	} catch {
		return null;
	}
}
