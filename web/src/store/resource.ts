// Something that is read from the server for a view, and again when it changes.

import { effect, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { CallError } from "../wire/connection.ts";
import * as app from "./app.ts";
import type { ThreadStore } from "./thread.ts";

const delayMs = 300;

export class Resource<T> {
	/** value is what was read last. It stays while it is read again. */
	readonly value = signal<T | null>(null);
	readonly failure = signal<CallError | null>(null);
	private run = 0;
	private timer = 0;

	constructor(private readonly read: () => Promise<T>) {}

	async load(): Promise<void> {
		const run = ++this.run;
		try {
			const value = await this.read();
			if (run !== this.run) return;
			this.value.value = value;
			this.failure.value = null;
		} catch (error) {
			if (run !== this.run) return;
			const failure = error instanceof CallError ? error : new CallError(0, (error as Error).message, "", {});
			if (failure.kind !== "disconnected") this.failure.value = failure; // the banner shows a lost connection
		}
	}

	/** soon loads again, once for changes that come together. */
	soon(): void {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => void this.load(), delayMs);
	}

	/** start loads when the page is connected. It returns a function that ends this. */
	start(): () => void {
		const stop = effect(() => {
			if (app.connection.value?.state.value === "open") void this.load();
		});
		return () => {
			this.run++;
			clearTimeout(this.timer);
			stop();
		};
	}
}

/** useResource reads something while a component is mounted, and anew if deps change. */
export function useResource<T>(read: () => Promise<T>, deps: readonly unknown[]): Resource<T> {
	const resource = useMemo(() => new Resource(read), deps);
	useEffect(() => resource.start(), [resource]);
	return resource;
}

/** connected reports whether requests can be sent. */
export const connected = (): boolean => app.connection.value?.state.value === "open";

/** readOnlyReason returns why a thread cannot be changed now, or "". */
export function readOnlyReason(store: ThreadStore): string {
	if (!connected()) return "The connection to the server is lost.";
	if (store.phase.value === "archived") return "The thread is archived.";
	if (store.phase.value === "locked") return "Another program has the thread open.";
	return store.turn.value !== null ? "A turn is in progress." : "";
}
