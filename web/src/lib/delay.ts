// A function that runs some time after it was last wanted.

/** Delay joins calls that come together. */
export class Delay {
	private timer = 0;

	constructor(private readonly ms: number) {}

	/** start runs a function after the time, instead of the former one if that has not run yet. */
	start(run: () => void): void {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(run, this.ms);
	}

	/** stop drops the function that waits. */
	stop(): void {
		clearTimeout(this.timer);
	}
}
