// Requests of the server that wait for an answer of the user.

import { signal } from "@preact/signals";
import type { OpenServerRequest, RequestId, ServerRequest } from "../wire/types.ts";

/** Question is a request of the server that waits for an answer. */
export interface Question {
	id: RequestId;
	request: ServerRequest;
	threadId: string;
	/** shownAt is the time from which its buttons accept input, in milliseconds. */
	shownAt: number;
	/** resolved is set if another client answered, or the turn ended. */
	resolved: boolean;
	/** stale is set while the connection is lost. The server asks again after a reconnect. */
	stale: boolean;
	/** later is set if the user collapsed the question. */
	later: boolean;
}

/** kinds are the kinds of questions as people read them, by the method of the request. */
export const kinds: Record<string, string> = {
	"item/commandExecution/requestApproval": "command",
	"item/fileChange/requestApproval": "file changes",
	"mcpServer/elicitation/request": "question of a server",
	"item/tool/requestUserInput": "question of the agent",
	"item/tool/call": "call of a client's tool",
};

/** guardMs is the time for which a new question ignores input meant for something else. */
export const guardMs = 500;
/** lingerMs is the time for which a question that was answered elsewhere stays visible. */
const lingerMs = 5000;

/** inbox has the open requests of all threads, as the server lists them. */
export const inbox = signal<readonly OpenServerRequest[]>([]);

/** questions has the open requests to this page, the oldest first. */
export const questions = signal<readonly Question[]>([]);

function threadOf(r: ServerRequest): string {
	return (r.params as { threadId?: string }).threadId ?? "";
}

/** waits reports whether a question about an item is open. */
export function waits(itemId: string): boolean {
	return questions.value.some((q) => !q.resolved && (q.request.params as { itemId?: string }).itemId === itemId);
}

/** ask adds a question. The server sends open ones again, with the same id, after a reconnect. */
export function ask(request: ServerRequest): void {
	const list = questions.value.filter((q) => q.id !== request.id);
	const known = questions.value.find((q) => q.id === request.id);
	questions.value = [...list, {
		id: request.id, request, threadId: threadOf(request), shownAt: known?.shownAt ?? Date.now() + guardMs,
		resolved: false, stale: false, later: known?.later ?? false,
	}];
}

/** answered removes a question that this page answered. A key that is pressed twice does not answer the next one. */
export function answered(id: RequestId): void {
	questions.value = questions.value.filter((q) => q.id !== id).map((q) => ({ ...q, shownAt: Date.now() + guardMs }));
}

/** resolved marks a question that was resolved elsewhere, and removes it after some seconds. */
export function resolved(id: RequestId): void {
	if (!questions.value.some((q) => q.id === id)) return;
	questions.value = questions.value.map((q) => (q.id === id ? { ...q, resolved: true } : q));
	setTimeout(() => (questions.value = questions.value.filter((q) => q.id !== id)), lingerMs);
}

/** setLater collapses a question, or opens it again. It sends nothing. */
export function setLater(id: RequestId, later: boolean): void {
	questions.value = questions.value.map((q) => (q.id === id ? { ...q, later, shownAt: Date.now() + guardMs } : q));
}

/** disconnected keeps the questions of a lost connection. They take no answer until they are asked again. */
export function disconnected(): void {
	questions.value = questions.value.map((q) => ({ ...q, stale: true }));
}

/** reconnected removes the questions that were not asked again. */
export function reconnected(): void {
	questions.value = questions.value.filter((q) => !q.stale);
}
