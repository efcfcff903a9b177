// The items of an answer, in a short form.

import { useMemo } from "preact/hooks";
import { Blocks } from "../lib/blocks.ts";
import { firstLine, plural, visible } from "../lib/format.ts";
import { scriptOf } from "../lib/shell.ts";
import { Markdown } from "../lib/markdown.tsx";
import type { ThreadItem } from "../wire/types.ts";

/** maxOutput is the number of characters of an output that are shown. */
const maxOutput = 2000;

/** AnswerItems shows the items of an answer. streamed is the message that the model writes now. */
export function AnswerItems({ items, streamed }: { items: readonly ThreadItem[]; streamed: string }) {
	return (
		<>
			{items.map((item, i) => <AnswerItem key={`${item.id}/${i}`} item={item} />)}
			{streamed !== "" && <pre class="answer-text">{visible(streamed)}</pre>}
			{items.length === 0 && streamed === "" && <p class="faint">Nothing yet.</p>}
		</>
	);
}

function AnswerItem({ item }: { item: ThreadItem }) {
	switch (item.type) {
		case "agentMessage":
			return <Text text={item.text} />;
		case "commandExecution":
			return (
				<details>
					<summary><code>{firstLine(visible(scriptOf(item.command)), 100)}</code> <span class="faint">
						{item.exitCode === null || item.exitCode === undefined ? item.status : `exit ${item.exitCode}`}</span></summary>
					<pre>{visible((item.aggregatedOutput ?? "").slice(0, maxOutput))}</pre>
				</details>
			);
		case "fileChange":
			return <p><span class="faint">Changes {plural(item.changes.length, "file")}:</span> {item.changes.map((c) => visible(c.path)).join(", ")} <span class="faint">{item.status}</span></p>;
		case "mcpToolCall":
			return <p><span class="faint">Tool</span> <code>{visible(`${item.server}.${item.tool}`)}</code></p>;
		case "dynamicToolCall":
			return <p><span class="faint">Tool</span> <code>{visible(item.tool)}</code></p>;
		case "reasoning":
			return <p class="faint">Reasoning</p>;
		case "userMessage":
			return <p class="faint">A message of the user followed here.</p>;
		default:
			return <p class="faint">{item.type}</p>;
	}
}

function Text({ text }: { text: string }) {
	const blocks = useMemo(() => new Blocks(), []);
	return <div class="answer-text"><Markdown text={text} blocks={blocks} /></div>;
}
