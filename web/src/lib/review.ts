// The text of a review: an explanation, and findings with their places.

/** Finding is a remark of a review about some lines. */
export interface Finding {
	title: string;
	path: string;
	/** first and last are the numbers of lines. */
	first: number;
	last: number;
	body: string;
}

/** Review is the result of a review. */
export interface Review {
	explanation: string;
	findings: Finding[];
}

/** parseReview reads the result of a review. Text of another form is its explanation. */
export function parseReview(text: string): Review {
	const marker = /(?:^|\n\n)(?:Review comment:|Full review comments:)\n\n(?=- )/.exec(text);
	if (!marker) return { explanation: text.trim(), findings: [] };
	const findings: Finding[] = [];
	for (const line of text.slice(marker.index + marker[0].length).split("\n")) {
		const head = /^- (.*) — (.+):(\d+)-(\d+)$/.exec(line);
		if (head) findings.push({ title: head[1]!, path: head[2]!, first: Number(head[3]), last: Number(head[4]), body: "" });
		else if (findings.length > 0) findings.at(-1)!.body += `${line.replace(/^ {2}/, "")}\n`;
	}
	const explanation = text.slice(0, marker.index).trim();
	return { explanation, findings: findings.map((f) => ({ ...f, body: f.body.trim() })) };
}
