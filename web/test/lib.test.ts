import { render } from "preact";
import { terminal } from "../src/lib/ansi.tsx";
import { Fenwick } from "../src/lib/fenwick.ts";
import { age, amount, duration, firstLine, percent, plural, relative, visible } from "../src/lib/format.ts";
import { ListModel } from "../src/lib/listmodel.ts";
import { scriptOf } from "../src/lib/shell.ts";
import { diffCounts } from "../src/view/diff.tsx";
import { equal, test } from "./check.ts";

function html(nodes: ReturnType<typeof terminal>): string {
	const box = document.createElement("div");
	render(nodes, box);
	return box.innerHTML;
}

test("Fenwick tree has the sums of a plain list after any changes", () => {
	const tree = new Fenwick(50, 10);
	const list = Array<number>(50).fill(10);
	for (let i = 0; i < 500; i++) {
		const at = (i * 37) % 50;
		tree.set(at, (i * 13) % 90);
		list[at] = (i * 13) % 90;
		let sum = 0;
		for (let k = 0; k < 50; k++) {
			equal(tree.sum(k), sum);
			sum += list[k]!;
		}
		equal(tree.sum(50), sum);
	}
});

test("Fenwick tree finds the row at each height", () => {
	const tree = new Fenwick(3, 10);
	tree.set(1, 30);
	equal([0, 9, 10, 39, 40, 49].map((h) => tree.find(h)), [0, 0, 1, 1, 2, 2]);
});

test("a list follows its end until the user scrolls up", () => {
	const model = new ListModel(20);
	model.update(["a", "b", "c"].map((key) => ({ key })));
	const followed: [top: number, nearEnd: boolean, follows: boolean][] = [
		[500, true, true],
		[500, false, true], // rows have grown, or the box has shrunk
		[700, false, true],
		[650, false, false],
		[700, false, false],
		[900, true, true],
	];
	for (const [top, nearEnd, follows] of followed) {
		model.scrolled(top, nearEnd);
		equal(model.pinned, follows);
	}
});

test("terminal colours become classes, other sequences are dropped", () => {
	equal(html(terminal("\u001b[1;31mred\u001b[0m plain \u001b[38;5;200mx\u001b[2J\u001b]8;;http://x\u0007link\u001b]8;;\u0007", 1000)),
		`<span class="c-red bold">red</span> plain xlink`);
});

test("terminal keeps the last text of a line that is written again", () => {
	equal(html(terminal("10 %\r50 %\r100 %\ndone\r\n", 1000)), "100 %\ndone\n");
});

test("terminal shows the end of a long output and how much is missing", () => {
	equal(html(terminal("x".repeat(30) + "end", 5)), `<span class="faint">… 28 characters before</span>\nxxend`);
});

test("the script of a shell call is shown without its wrapper", () => {
	equal(scriptOf("/bin/bash -lc 'ls -l'"), "ls -l");
	equal(scriptOf("/bin/sh -c ls"), "ls");
	equal(scriptOf(`/bin/sh -lc "echo \\"a\\" '|' \\$x"`), `echo "a" '|' $x`);
	equal(scriptOf(`bash -lc 'it'"'"'s'`), "it's");
	equal(scriptOf("bash -lc ls -l"), "bash -lc ls -l");
	equal(scriptOf("python -c 'print(1)'"), "python -c 'print(1)'");
	equal(scriptOf("bash -lc 'open"), "bash -lc 'open");
});

test("invisible and misleading characters are shown by their codes", () => {
	equal(visible("a\u202eb\u200bc\u001bd\te\nf"), "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩d\te\nf");
});

test("numbers and times are short", () => {
	equal([percent(0), percent(0.012), percent(0.5), plural(1, "match", "matches"), plural(1200, "item")],
		["0 %", "1.2 %", "50 %", "1 match", "1,200 items"]);
	equal([duration(20), duration(2500), duration(90_000)], ["20 ms", "2.5 s", "1 min 30 s"]);
	equal([duration(59_900), duration(59_990), duration(119_600)], ["59.9 s", "1 min 0 s", "2 min 0 s"]);
	equal([age(100, 130_000), age(0, 3_600_000), age(0, 86_400_000 * 30)], ["now", "1 h", "1970-01-01"]);
	equal([firstLine("\n  a\nb", 10), firstLine("abcdef", 3), relative("/p/a/b", "/p"), relative("/pa/b", "/p")],
		["a", "abc…", "a/b", "/pa/b"]);
});

test("changes of files are counted by lines", () => {
	equal(diffCounts("a\nb\n", "add"), { added: 2, removed: 0 });
	equal(diffCounts("a\n", "delete"), { added: 0, removed: 1 });
	equal(diffCounts("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n", "update"), { added: 2, removed: 1 });
});

test("amounts of money have two decimals, and small ones two digits", () => {
	equal([1234.5, 1, 0.0001234, 0.05, 0].map(amount), ["1,234.50", "1.00", "0.00012", "0.05", "0.00"]);
});
