import { squarify, strip, treemap, type Tile } from "../src/lib/maplayout.ts";
import { equal, test } from "./check.ts";

const area = (tiles: readonly Tile[], index: number) =>
	tiles.filter((t) => t.index === index).reduce((sum, t) => sum + t.w * t.h, 0);

function overlap(tiles: readonly Tile[]): number {
	let found = 0;
	for (const [i, a] of tiles.entries()) {
		for (const b of tiles.slice(i + 1)) {
			const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
			const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
			if (w > 1e-6 && h > 1e-6) found++;
		}
	}
	return found;
}

const sizes = [5, 90, 1, 40, 40, 7, 0, 300, 2, 15];

test("tiles of a treemap have areas by price, do not overlap and fill the rectangle", () => {
	const tiles = squarify(sizes, 10, 20, 300, 200);
	const total = sizes.reduce((a, b) => a + b, 0);
	for (const [i, size] of sizes.entries()) equal(Math.round(area(tiles, i)), Math.round((size / total) * 300 * 200));
	equal(overlap(tiles), 0);
	equal(tiles.every((t) => t.x >= 10 - 1e-6 && t.y >= 20 - 1e-6 && t.x + t.w <= 310 + 1e-6 && t.y + t.h <= 220 + 1e-6),
		true);
});

test("a group has the tiles of its items, below its label", () => {
	const { tiles, groups } =
		treemap(sizes, [{ label: "a", indices: [1, 7] }, { label: "b", indices: [0, 2, 3, 4, 5, 6, 8, 9] }], 400, 300);
	equal(groups.map((g) => g.label).sort(), ["a", "b"]);
	equal(overlap(tiles), 0);
	const a = groups.find((g) => g.label === "a")!;
	for (const t of tiles.filter((t) => t.index === 1 || t.index === 7)) {
		equal(t.x >= a.x && t.y >= a.y + a.head && t.x + t.w <= a.x + a.w && t.y + t.h <= a.y + a.h, true);
	}
});

test("a strip keeps the order, and an item continues on the next line", () => {
	const tiles = strip([10, 30, 20], 20, 30, 10);
	equal(tiles.map((t) => [t.index, Math.round(t.x), t.y, Math.round(t.w)]),
		[[0, 0, 0, 10], [1, 10, 0, 10], [1, 0, 10, 20], [2, 0, 20, 20]]);
});

test("a map without prices or without room is empty", () => {
	equal([strip([0, 0], 100, 100, 10), squarify([0], 0, 0, 10, 10), squarify([1], 0, 0, 0, 10)], [[], [], []]);
});
