// Something that is read from the server for a view, and again when it changes.

import { effect, signal } from "@preact/signals";
import { Delay } from "../lib/delay.ts";
import { Newest } from "../lib/newest.ts";
import { CallError } from "../wire/connection.ts";
import { connected } from "./app.ts";

const delayMs = 300;

/** Resource is something that the server has. */
export class Resource<T> {
	/** value is the last result. It stays while it is read again. */
	readonly value = signal<T | null>(null);
	readonly failure = signal<CallError | null>(null);
	private readonly reads = new Newest();
	private readonly delay = new Delay(delayMs);

	constructor(private readonly read: () => Promise<T>) {}

	/** load reads it. The answer to an earlier request changes nothing. */
	load(): Promise<void> {
		return this.reads.run((isNewest) => this.show(isNewest));
	}

	private async show(isNewest: () => boolean): Promise<void> {
		try {
			const value = await this.read();
			if (!isNewest()) return;
			this.value.value = value;
			this.failure.value = null;
		} catch (error) {
			if (!isNewest()) return;
			const failure = error instanceof CallError ? error : new CallError(0, (error as Error).message, "", {});
			if (failure.kind !== "disconnected") this.failure.value = failure; // the banner shows a lost connection
		}
	}

	/** soon loads again, once for changes that come together. */
	soon(): void {
		this.delay.start(() => void this.load());
	}

	/** start loads when the page is connected. It returns a function that ends this. */
	start(): () => void {
		const stop = effect(() => {
			if (connected()) void this.load();
		});
		return () => {
			this.reads.drop();
			this.delay.stop();
			stop();
		};
	}
}
