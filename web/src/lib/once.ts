// Something that is loaded when it is first wanted.

/** Once loads a value one time. After a failure the next call loads it again. */
export class Once<T> {
	/** value is the loaded result, or null. */
	value: T | null = null;
	private loading: Promise<T> | null = null;

	constructor(private readonly read: () => Promise<T>) {}

	/** load returns the value, and loads it if it is not there. */
	load(): Promise<T> {
		this.loading ??= this.read().then((value) => (this.value = value), (error: unknown) => {
			this.loading = null;
			throw error;
		});
		return this.loading;
	}
}
