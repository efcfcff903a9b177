/** Fenwick is a list of numbers with prefix sums. Reads and writes take logarithmic time. */
export class Fenwick {
	private tree: Float64Array;
	private values: Float64Array;
	private length: number;

	constructor(length: number, value: number) {
		this.length = length;
		this.values = new Float64Array(length).fill(value);
		this.tree = new Float64Array(length + 1);
		this.rebuild();
	}

	private rebuild(): void {
		this.tree.fill(0);
		for (let i = 1; i <= this.length; i++) {
			this.tree[i]! += this.values[i - 1]!;
			const parent = i + (i & -i);
			if (parent <= this.length) this.tree[parent]! += this.tree[i]!;
		}
	}

	get size(): number {
		return this.length;
	}

	get(i: number): number {
		return this.values[i]!;
	}

	set(i: number, value: number): void {
		const delta = value - this.values[i]!;
		if (delta === 0) return;
		this.values[i] = value;
		for (let k = i + 1; k <= this.length; k += k & -k) this.tree[k]! += delta;
	}

	/** sum returns the sum of the first n values. */
	sum(n: number): number {
		let total = 0;
		for (let k = Math.min(n, this.length); k > 0; k -= k & -k) total += this.tree[k]!;
		return total;
	}

	/** find returns the index of the value that contains the offset, at most the last index. */
	find(offset: number): number {
		let index = 0;
		let rest = offset;
		let step = 1;
		while (step * 2 <= this.length) step *= 2;
		for (; step > 0; step = Math.floor(step / 2)) {
			if (index + step <= this.length && this.tree[index + step]! <= rest) {
				index += step;
				rest -= this.tree[index]!;
			}
		}
		return Math.max(0, Math.min(index, this.length - 1));
	}
}
