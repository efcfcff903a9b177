// The items that the next requests can do without, as the server suggests them.

import { computed, effect, signal, untracked } from "@preact/signals";
import type {
	ContextNetPrice, ContextSuggestGoal, ContextSuggestion, ContextSuggestionsNotification, ServerNotification,
	SuggestionReason,
	SuggestionRisk,
} from "../wire/types.ts";
import { Newest } from "../lib/newest.ts";
import { toggled } from "../lib/toggled.ts";
import { CallError } from "../wire/connection.ts";
import type { ContextList } from "./context.ts";
import type { Notices } from "./notices.ts";
import type { Requests } from "./requests.ts";

/** Answer has the suggestions of one revision. A notification has no figures that are null here. */
export interface Answer {
	revision: number;
	suggestions: readonly ContextSuggestion[];
	netPrice: ContextNetPrice;
	promptTokens: number | null;
	expectedRequests: number | null;
	goalReached: boolean | null;
}

/** GoalUnit is the unit of a goal. */
export type GoalUnit = "percent" | "tokens";

/** Suggestions has the suggestions for the context of one thread. */
export class Suggestions {
	/** open reports whether the cards are shown. Only then changes of the thread request new ones. */
	readonly open = signal(false);
	readonly answer = signal<Answer | null>(null);
	/**
	 * goal is a number in goalUnit, or null: the share of the next request that should go, or the tokens that it may have.
	 */
	readonly goal = signal<number | null>(null);
	readonly goalUnit = signal<GoalUnit>("percent");
	readonly loading = signal(false);
	readonly applying = signal(false);
	readonly failure = signal("");
	/** refused are the ids of suggestions that were not applied, because the context had changed. */
	readonly refused = signal<ReadonlySet<string>>(new Set());
	/**
	 * explained are the ids of the cards that show their reason, pointed is the one below the pointer or with the focus.
	 */
	readonly explained = signal<ReadonlySet<string>>(new Set());
	readonly pointed = signal<string | null>(null);
	/** byItem has the suggestion of each context item. */
	readonly byItem = computed<ReadonlyMap<string, ContextSuggestion>>(() =>
		new Map((this.answer.value?.suggestions ?? []).flatMap((s) => s.itemIds.map((id) => [id, s] as const))));
	/** highlighted are the context items of cards that are pointed at or explained. */
	readonly highlighted = computed<ReadonlySet<string>>(() => new Set((this.answer.value?.suggestions ?? [])
		.filter((s) => s.id === this.pointed.value || this.explained.value.has(s.id)).flatMap((s) => s.itemIds)));
	private readonly requested = new Newest();

	constructor(
		private readonly requests: Requests, private readonly context: Pick<ContextList, "revision" | "read">,
		private readonly notices: Pick<Notices, "report">,
	) {}

	/** start follows the revision of the context. It returns a function that ends this. */
	start(): () => void {
		return effect(() => {
			const revision = this.context.revision.value;
			const answer = this.answer.peek();
			if (answer && answer.revision !== revision) untracked(() => this.outdate());
		});
	}

	/** notified takes new suggestions. The end of a turn changes what can be suggested. */
	notified(n: ServerNotification): void {
		if (n.method === "ContextSuggestions") this.take(n.params);
		if (n.method === "turn/completed") this.outdate();
	}

	/** take shows the suggestions of a notification. */
	take(n: ContextSuggestionsNotification): void {
		this.requested.drop(); // an answer that is on its way is older
		this.loading.value = false;
		this.show({ ...n, promptTokens: null, expectedRequests: null, goalReached: null });
		if (this.open.peek()) void this.refresh();
	}

	/** outdate requests new suggestions if they are shown, and drops them otherwise. */
	outdate(): void {
		if (this.open.peek()) void this.refresh();
		else this.answer.value = null;
	}

	/** toggle opens or closes the cards. */
	toggle(): void {
		this.open.value = !this.open.value;
		this.pointed.value = null;
		this.refused.value = new Set();
		if (this.open.value) void this.refresh();
		else this.explained.value = new Set();
	}

	/** refresh requests new suggestions. It ends when those of the newest request are shown. */
	refresh(): Promise<void> {
		return this.requested.run((isNewest) => this.request(isNewest));
	}

	private async request(isNewest: () => boolean): Promise<void> {
		this.loading.value = true;
		const answer = await this.requests.call("context/suggest", {
			threadId: this.requests.threadId, goal: this.goalParams(),
		}).catch((error: Error) => error);
		if (!isNewest()) return;
		this.loading.value = false;
		this.failure.value = answer instanceof Error ? answer.message : "";
		if (answer instanceof Error) this.answer.value = null; // it may be of an older revision
		else this.show(answer);
	}

	private goalParams(): ContextSuggestGoal | null {
		const goal = this.goal.peek();
		if (goal === null) return null;
		return this.goalUnit.peek() === "tokens" ? { tokens: goal } : { share: goal / 100 };
	}

	/** setGoalUnit changes the unit of the goal, and converts the goal if the size of the next request is known. */
	setGoalUnit(unit: GoalUnit): void {
		const { promptTokens } = this.answer.peek() ?? { promptTokens: null };
		const goal = this.goal.peek();
		if (unit === this.goalUnit.peek()) return;
		this.goalUnit.value = unit;
		if (goal === null) return;
		this.goal.value = !promptTokens ? null
			: unit === "tokens" ? Math.max(1, Math.round(promptTokens * (1 - goal / 100)))
			: Math.min(100, Math.max(1, Math.round((1 - goal / promptTokens) * 100)));
	}

	private show(answer: Answer): void {
		const ids = new Set(answer.suggestions.map((s) => s.id));
		this.answer.value = answer;
		this.explained.value = new Set([...this.explained.peek()].filter((id) => ids.has(id)));
		if (!ids.has(this.pointed.peek() ?? "")) this.pointed.value = null;
	}

	/**
	 * apply makes one edit of some suggestions. If the context has changed, it shows new ones instead, and refused has
	 * the old ones.
	 */
	async apply(list: readonly ContextSuggestion[]): Promise<void> {
		this.applying.value = true;
		this.refused.value = new Set();
		try {
			await this.requests.call("context/apply", {
				threadId: this.requests.threadId, edits: list.flatMap((s) => s.edits),
				expectedRevision: this.answer.value!.revision,
			});
		} catch (error) {
			if (error instanceof CallError && error.kind === "staleRevision") {
				await this.context.read();
				this.refused.value = new Set(list.map((s) => s.id));
			} else {
				this.notices.report(error);
			}
		}
		await this.refresh();
		this.applying.value = false;
	}

	/** toggleReason shows the reason of a card, or hides it. */
	toggleReason(id: string): void {
		this.explained.value = toggled(this.explained.value, id);
	}
}

/** Group has the suggestions with one reason, the best one first. */
export interface Group {
	reason: SuggestionReason;
	list: readonly ContextSuggestion[];
}

/** groupsOf returns the suggestions by their reasons. A group has the place of its best suggestion. */
export function groupsOf(suggestions: readonly ContextSuggestion[]): Group[] {
	const groups = new Map<SuggestionReason, ContextSuggestion[]>();
	for (const s of suggestions) groups.set(s.reason, [...groups.get(s.reason) ?? [], s]);
	return [...groups].map(([reason, list]) => ({ reason, list }));
}

/** reasonNames are short forms of the reasons for the rows of items. */
export const reasonNames: Record<SuggestionReason, string> = {
	supersededRead: "read again later", staleRead: "file changed since", duplicateOutput: "same text later",
	failedAttempt: "succeeded later", repeatedCommand: "ran again later", uncitedOutput: "not used later",
	oldOutput: "not used recently", describedImage: "image was answered", oldReasoning: "reasoning of an earlier turn",
};

/** reasonTexts explain the reasons. */
export const reasonTexts: Record<SuggestionReason, string> = {
	supersededRead: "A later read has the same lines as well.",
	staleRead: "A later patch or command changed the file, so the text is not its content any more.",
	duplicateOutput: "A later output has the same text.",
	failedAttempt: "The command failed here, and succeeded later.",
	repeatedCommand: "The same command ran again later, so a newer output is in the context.",
	uncitedOutput: "No later answer or patch has a line of it.",
	oldOutput: "A patch used it, but no recent one did.",
	describedImage: "An answer followed the image of a tool.",
	oldReasoning: "It is the reasoning of earlier turns. Their answers stay.",
};

/** riskTexts explain the risks. */
export const riskTexts: Record<SuggestionRisk, string> = {
	low: "A later item has the content, or no request sends it again.",
	medium: "The model may have to read or run something again.",
};
