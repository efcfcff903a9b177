// The process of the server: its start, its lines, its end, and the next start.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

const minDelayMs = 500;
const maxDelayMs = 30_000;
/** stableMs is the time after which a server counts as started well, so that the delay begins anew. */
const stableMs = 60_000;
/** stopMs is the time that a server has to end after its input ended. It promises 2.5 seconds. */
const stopMs = 4000;
/** keptErrors is the number of characters of the standard error that can be the reason of an end. */
const keptErrors = 4000;

/** Command is how the server is started. */
export interface Command {
	path: string;
	args: readonly string[];
	env: Readonly<Record<string, string>>;
	cwd: string | undefined;
}

/** Events are the messages and the end of the server that no request caused. */
export interface Events {
	started(): void;
	line(text: string): void;
	log(text: string): void;
	/** missing is called if the program cannot be started. It is not tried again until start is called. */
	missing(reason: string): void;
	/** ended is called if a server ended by itself. It starts again after delayMs. */
	ended(reason: string, delayMs: number): void;
}

/** Lines splits a stream of bytes into its lines. */
export class Lines {
	private readonly decoder = new StringDecoder("utf8");
	private readonly parts: string[] = [];

	constructor(private readonly line: (text: string) => void) {}

	write(chunk: Buffer): void {
		const pieces = this.decoder.write(chunk).split("\n");
		const rest = pieces.pop()!;
		for (const piece of pieces) {
			this.parts.push(piece);
			const text = this.parts.join("").trim();
			this.parts.length = 0;
			if (text !== "") this.line(text);
		}
		if (rest !== "") this.parts.push(rest);
	}
}

/** nextDelay returns the time to wait after the n-th failure in a row, counted from 0. */
export function nextDelay(failures: number): number {
	return Math.min(minDelayMs * 2 ** failures, maxDelayMs);
}

/** reasonOf describes the end of a process, with the last line that it wrote to its standard error. */
export function reasonOf(status: number | null, signal: string | null, errors: string): string {
	const last = errors.trim().split("\n").pop()?.trim() ?? "";
	const how = signal ? `was ended by ${signal}` : `ended with status ${status}`;
	return `appserver ${how}${last === "" ? "" : `: ${last}`}`;
}

/** Server starts the program, and starts it again after it ended. */
export class Server {
	private child: ChildProcessWithoutNullStreams | null = null;
	private failures = 0;
	private timer: NodeJS.Timeout | null = null;

	constructor(private readonly command: () => Command, private readonly events: Events) {}

	get running(): boolean {
		return this.child !== null;
	}

	/** start starts the server unless it runs. It does not wait for the end of a delay. */
	start(): void {
		if (this.timer) clearTimeout(this.timer);
		this.timer = null;
		if (this.child) return;
		const { path, args, env, cwd } = this.command();
		const child = spawn(path, [...args], { cwd, env: { ...process.env, ...env }, windowsHide: true });
		this.child = child;
		this.listen(child);
	}

	/** send writes a line to the server, if it runs. */
	send(text: string): void {
		this.child?.stdin.write(`${text}\n`);
	}

	/** stop ends the server. No event follows. */
	stop(): Promise<void> {
		if (this.timer) clearTimeout(this.timer);
		this.timer = null;
		const child = this.child;
		this.child = null;
		if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
		return new Promise((done) => {
			const kill = setTimeout(() => child.kill("SIGKILL"), stopMs);
			child.once("close", () => {
				clearTimeout(kill);
				done();
			});
			child.stdin.end();
		});
	}

	private listen(child: ChildProcessWithoutNullStreams): void {
		const started = Date.now();
		let errors = "";
		const lines = new Lines((text) => this.child === child && this.events.line(text));
		child.stdout.on("data", (chunk: Buffer) => lines.write(chunk));
		child.stderr.on("data", (chunk: Buffer) => {
			const text = chunk.toString();
			errors = (errors + text).slice(-keptErrors);
			this.events.log(text);
		});
		child.stdin.on("error", () => undefined); // the end of the process follows
		child.on("spawn", () => this.child === child && this.events.started());
		child.on("error", (error) => {
			if (this.child !== child || child.pid !== undefined) return;
			this.child = null;
			this.events.missing(error.message);
		});
		child.on("close", (status, signal) => {
			if (this.child !== child) return;
			this.child = null;
			if (Date.now() - started > stableMs) this.failures = 0;
			const delay = nextDelay(this.failures++);
			this.timer = setTimeout(() => this.start(), delay);
			this.events.ended(reasonOf(status, signal, errors), delay);
		});
	}
}
