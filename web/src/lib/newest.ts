// Reads of a value of which only the newest counts.

/** Newest starts the reads of one value. The answer to an earlier read is late, and must change nothing. */
export class Newest {
	private count = 0;
	private last: Promise<void> = Promise.resolve();

	/** run starts a read. It must ask isNewest before it changes anything. The result waits for the newest read. */
	run(read: (isNewest: () => boolean) => Promise<void>): Promise<void> {
		const run = ++this.count;
		const isNewest = () => run === this.count;
		this.last = read(isNewest).then(() => (isNewest() ? undefined : this.last));
		return this.last;
	}

	/** drop makes the answers late that did not come yet. */
	drop(): void {
		this.count++;
		this.last = Promise.resolve();
	}
}
