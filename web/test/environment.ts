// What stores use of a page, with a clock that only tests move. It must be imported before the stores.

interface Timer {
	at: number;
	id: number;
	run(): void;
}

/** Clock has the time and the timers of a test. */
class Clock {
	now = 1_000_000;
	private timers: Timer[] = [];
	private last = 0;

	start(run: () => void, ms = 0): number {
		this.timers.push({ at: this.now + ms, id: ++this.last, run });
		return this.last;
	}

	stop(id: number): void {
		this.timers = this.timers.filter((t) => t.id !== id);
	}

	/** advance lets time pass, and runs the timers in their order. */
	advance(ms: number): void {
		const end = this.now + ms;
		for (let next = this.next(end); next; next = this.next(end)) {
			this.stop(next.id);
			this.now = Math.max(this.now, next.at);
			next.run();
		}
		this.now = end;
	}

	private next(end: number): Timer | undefined {
		return this.timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at || a.id - b.id)[0];
	}
}

/** Memory is a storage. */
class Memory {
	private readonly values = new Map<string, string>();

	getItem(key: string): string | null {
		return this.values.get(key) ?? null;
	}

	setItem(key: string, value: string): void {
		this.values.set(key, String(value));
	}

	removeItem(key: string): void {
		this.values.delete(key);
	}
}

/** Encoder counts the bytes of texts in UTF-8. */
class Encoder {
	encode(text: string): { length: number } {
		return { length: unescape(encodeURIComponent(text)).length };
	}
}

const handlers = new Map<string, ((event: unknown) => void)[]>();

/** clock is the time of the test. */
export const clock = new Clock();

/** emit sends an event to the window. */
export function emit(type: string, event: object): void {
	for (const run of handlers.get(type) ?? []) run(event);
}

/** settle waits until nothing is left that runs without time. */
export async function settle(): Promise<void> {
	for (let i = 0; i < 50; i++) await Promise.resolve();
}

/** pass lets time pass, and waits for what follows. */
export async function pass(ms: number): Promise<void> {
	await settle();
	clock.advance(ms);
	await settle();
}

const timers = {
	setTimeout: (run: () => void, ms?: number) => clock.start(run, ms),
	clearTimeout: (id: number) => clock.stop(id),
	requestAnimationFrame: (run: () => void) => clock.start(run, 16),
	queueMicrotask: (run: () => void) => void Promise.resolve().then(run),
};

Object.assign(globalThis, timers, {
	window: globalThis,
	document: { hidden: false },
	localStorage: new Memory(),
	sessionStorage: new Memory(),
	location: { hash: "", pathname: "/", search: "" },
	history: { replaceState: () => Object.assign(location, { hash: "" }) },
	performance: { now: () => clock.now },
	innerWidth: 1600,
	TextEncoder: Encoder,
	Intl: { NumberFormat: class { format = String; } },
	Event: class { constructor(readonly type: string) {} },
	addEventListener: (type: string, run: (event: unknown) => void) =>
		handlers.set(type, [...(handlers.get(type) ?? []), run]),
	removeEventListener: (type: string, run: (event: unknown) => void) =>
		handlers.set(type, (handlers.get(type) ?? []).filter((r) => r !== run)),
	dispatchEvent: (event: { type: string }) => emit(event.type, event),
});
Date.now = () => clock.now;
