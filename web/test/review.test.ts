import { parseReview } from "../src/lib/review.ts";
import { equal, test } from "./check.ts";

test("a review has its explanation and its findings with places", () => {
	const text = "It works.\n\nFull review comments:\n\n- [P1] Wrong — sign — /repo/a b.go:3-5\n  The first line.\n  \n  - a list\n\n- Typo — /repo/c.md:1-1\n  ";
	equal(parseReview(text), {
		explanation: "It works.",
		findings: [
			{ title: "[P1] Wrong — sign", path: "/repo/a b.go", first: 3, last: 5, body: "The first line.\n\n- a list" },
			{ title: "Typo", path: "/repo/c.md", first: 1, last: 1, body: "" },
		],
	});
	equal(parseReview("All good."), { explanation: "All good.", findings: [] });
	equal(parseReview("Review comment:\n\n- T — /a:1-2\n  b").findings.length, 1);
});
