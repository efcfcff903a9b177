import { comparePrompts, compareTexts, type PromptPart } from "../src/lib/promptdiff.ts";
import { equal, test } from "./check.ts";

const part = (id: string, text = id): PromptPart => ({ id, title: "user", text });

test("prompts are compared by message", () => {
	const changes = comparePrompts([part("a"), part("b"), part("c")], [part("a"), part("c", "shorter"), part("d")]);
	equal(changes.map((c) => `${c.kind} ${c.part.id}`), ["same a", "removed b", "changed c", "added d"]);
});

test("a replaced line marks its changed words", () => {
	const lines = compareTexts("one\ntwo red birds\nthree", "one\ntwo blue birds\nthree\nfour");
	equal(lines.map((l) => [l.kind, l.pieces.map((p) => (p.changed ? `[${p.text}]` : p.text)).join("")]), [
		["same", "one"], ["removed", "two [red] birds"], ["added", "two [blue] birds"], ["same", "three"], ["added", "four"],
	]);
});

test("texts with too many changes are shown as replaced", () => {
	const text = (n: number) => Array.from({ length: 3000 }, (_, i) => `${i * n}`).join("\n");
	const lines = compareTexts(text(2) + "x", text(3) + "y");
	equal([lines.filter((l) => l.kind === "removed").length > 1000, lines.filter((l) => l.kind === "added")
		.length > 1000], [true, true]);
});
