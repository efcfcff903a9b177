// Prompts of a thread: of now, with the plan, after an edit, or of a past request.

import { computed, signal } from "@preact/signals";
import type { ContextEdit, ContextGetPromptParams, ContextGetPromptResponse, ModelRequestUsage, Turn }
	from "../wire/types.ts";
import { turnName } from "./reverts.ts";
import type { PromptPart } from "../lib/promptdiff.ts";
import { operationsOf, type EditPlan } from "./plan.ts";
import type { Requests } from "./requests.ts";

const pageSize = 100;
/** maxNamePages bounds the pages of turns that are read for the names of one page of requests. */
const maxNamePages = 5;

/** Point names a prompt. Only the prompt of a request was sent. */
export type Point =
	| { kind: "now" } | { kind: "plan" }
	| { kind: "revision"; edit: ContextEdit }
	| { kind: "request"; request: ModelRequestUsage };

/** keyOf returns a name of a point that no other point has. */
export function keyOf(p: Point): string {
	switch (p.kind) {
		case "revision": return `revision:${p.edit.revision}`;
		case "request": return `request:${p.request.requestId}`;
		default: return p.kind;
	}
}

/** TurnOfRequests has the requests of a turn that follow each other, the newest first. */
export interface TurnOfRequests {
	key: string;
	name: string;
	requests: ModelRequestUsage[];
}

/** Prompt is a prompt with its messages and tools as parts. */
export interface Prompt {
	point: Point;
	response: ContextGetPromptResponse;
	parts: PromptPart[];
}

/** Inspector reads the prompts of one thread, and compares two of them. */
export class Inspector {
	/** requests are the model requests of the thread, the newest first. more is the cursor of the older ones, or null. */
	readonly requests = signal<readonly ModelRequestUsage[]>([]);
	readonly more = signal<string | null>(null);
	/** turns has the same requests by their turns. */
	readonly turns = computed(() => {
		const turns: TurnOfRequests[] = [];
		let last: string | null | undefined;
		for (const request of this.requests.value) {
			if (request.turnId !== last || turns.length === 0) {
				turns.push({ key: request.requestId, name: this.nameOf(request), requests: [] });
				last = request.turnId;
			}
			turns.at(-1)!.requests.push(request);
		}
		return turns;
	});
	private readonly names = signal<ReadonlyMap<string, string>>(new Map());
	readonly edits = signal<readonly ContextEdit[]>([]);
	readonly shown = signal<Prompt | null>(null);
	readonly base = signal<Prompt | null>(null);
	readonly failure = signal("");

	constructor(private readonly thread: Requests, private readonly plan: Pick<EditPlan, "changes">) {}

	/** open reads the lists and the prompt of now. */
	async open(): Promise<void> {
		await Promise.all([this.show({ kind: "now" }), this.loadRequests(), this.loadEdits()]);
	}

	/** nameOf returns the first message of the turn of a request. A reverted turn has no name. */
	private nameOf({ turnId, kind }: ModelRequestUsage): string {
		if (turnId === null) return "Draft of a compaction";
		return this.names.value.get(turnId) ?? (kind === "turn" ? "Another turn" : `A turn for a ${kind}`);
	}

	/** loadNames reads the names of turns, as many as pages of requests can have. */
	private async loadNames(): Promise<void> {
		let cursor: string | null = null;
		const names = new Map(this.names.peek());
		const wanted = new Set(this.requests.peek().flatMap((r) => (r.turnId && !names.has(r.turnId) ? [r.turnId] : [])));
		for (let i = 0; i < maxNamePages && wanted.size > 0; i++) {
			const page: { data: Turn[]; nextCursor: string | null } = await this.thread.call("thread/turns/list",
				{ threadId: this.thread.threadId, limit: pageSize, itemsView: "summary", cursor });
			for (const turn of page.data) {
				names.set(turn.id, turnName(turn.items[0]).name);
				wanted.delete(turn.id);
			}
			cursor = page.nextCursor;
			if (cursor === null) break;
		}
		this.names.value = names;
	}

	/** loadRequests reads the newest requests, or the next older page. */
	async loadRequests(): Promise<void> {
		await this.attempt(async () => {
			const page = await this.thread.call("thread/usage/list",
				{ threadId: this.thread.threadId, limit: pageSize, cursor: this.more.value });
			this.requests.value = [...this.requests.value, ...page.data];
			this.more.value = page.nextCursor;
			await this.loadNames();
		});
	}

	private async loadEdits(): Promise<void> {
		await this.attempt(async () => {
			const list = await this.thread.call("context/listEdits", { threadId: this.thread.threadId });
			this.edits.value = [...list.edits].reverse();
		});
	}

	/** show reads the prompt of a point. */
	async show(point: Point): Promise<void> {
		await this.attempt(async () => {
			const prompt = await this.read(point);
			this.shown.value = prompt;
			if (this.base.value && keyOf(this.base.value.point) === keyOf(point)) this.base.value = null;
		});
	}

	/** compare shows the difference from a point to the shown one. The same point again ends it. */
	async compare(point: Point): Promise<void> {
		if (this.base.value && keyOf(this.base.value.point) === keyOf(point)) {
			this.base.value = null;
			return;
		}
		await this.attempt(async () => {
			this.base.value = await this.read(point);
		});
	}

	private async read(point: Point): Promise<Prompt> {
		const params: ContextGetPromptParams = { threadId: this.thread.threadId };
		if (point.kind === "plan") params.edits = operationsOf(this.plan.changes.value);
		if (point.kind === "revision") params.revision = point.edit.revision;
		if (point.kind === "request") params.requestId = point.request.requestId;
		const response = await this.thread.call("context/getPrompt", params);
		return { point, response, parts: partsOf(response) };
	}

	private async attempt(run: () => Promise<void>): Promise<void> {
		this.failure.value = "";
		try {
			await run();
		} catch (error) {
			this.failure.value = (error as Error).message;
		}
	}
}

/**
 * Message has the members of a message of Chat Completions, or of an input item of the Responses API, that are shown.
 */
interface Message {
	role?: string;
	type?: string;
	content?: string | Content[] | null;
	tool_calls?: { id: string; function: { name: string; arguments: string } }[];
	tool_call_id?: string;
	call_id?: string;
	name?: string;
	arguments?: string;
	output?: string | Content[];
	summary?: Content[];
}

interface Content {
	type: string;
	text?: string;
}

interface Tool {
	type?: string;
	function?: { name: string };
	name?: string;
}

function partsOf(r: ContextGetPromptResponse): PromptPart[] {
	const messages = (r.messages as Message[])
		.map((m, i): PromptPart => ({
			id: idOf(m, r.sources[i]), title: titleOf(m), text: textOf(m), sources: r.sources[i] ?? [],
			isOutput: m.role === "tool" || m.type === "function_call_output" || m.type === "custom_tool_call_output",
		}));
	const tools = (r.tools as Tool[]).map((tool): PromptPart => {
		const name = tool.function?.name ?? tool.name ?? tool.type ?? "tool";
		return { id: `tool:${name}`, title: `tool definition: ${name}`, text: JSON.stringify(tool, null, 2) };
	});
	return [...messages.slice(0, 1), ...tools, ...messages.slice(1)];
}

/** idOf names a message in other prompts: by its first context item, by its call, or by its text. */
function idOf(m: Message, sources: readonly string[] = []): string {
	if (m.role === "system") return "system";
	const call = m.tool_call_id ?? m.call_id ?? m.tool_calls?.[0]?.id;
	return `${m.role ?? m.type}:${sources[0] ?? call ?? textOf(m)}`;
}

function titleOf(m: Message): string {
	const kind = m.role ?? m.type ?? "item";
	const names = m.tool_calls ? m.tool_calls.map((c) => c.function.name).join(", ") : m.name ?? "";
	return names === "" ? kind : `${kind}: ${names}`;
}

function textOf(m: Message): string {
	const parts = [contentOf(m.content), contentOf(m.output), contentOf(m.summary), m.arguments ?? "",
		...(m.tool_calls ?? []).map((c) => `${c.function.name}(${c.function.arguments})`)].filter((text) => text !== "");
	return parts.length > 0 ? parts.join("\n") : JSON.stringify(m, null, 2);
}

function contentOf(content: string | Content[] | null | undefined): string {
	if (typeof content === "string") return content;
	return (content ?? []).map((c) => c.text ?? `[${c.type}]`).join("\n");
}
