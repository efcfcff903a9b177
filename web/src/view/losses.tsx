// What a compaction added to its summary, and the facts that the summary does not mention.

import { sharedText, type CompactionReport, type LossReport } from "../store/losses.ts";
import type { ThreadStore } from "../store/thread.ts";
import { plural, textOfParts, visible } from "../lib/format.ts";
import type { CompactionLoss } from "../wire/types.ts";
import { Fold } from "./fold.tsx";
import { showContext, showRemoved } from "../store/panels.ts";
import { reveal } from "../store/reveal.ts";

/** lossTitles are the kinds of losses as people read them. */
export const lossTitles: Record<CompactionLoss["kind"], string> = {
	fileChanged: "Files changed", commandRun: "Commands run", decision: "Decisions", openQuestion: "Open questions",
	userConstraint: "Rules of the user",
};

/** kindsOf returns the kinds of losses in their order. */
export const kindsOf = (losses: readonly CompactionLoss[]): CompactionLoss["kind"][] =>
	[...new Set(losses.map((l) => l.kind))];

/** titleOf says in one line what a report has. */
function titleOf(r: LossReport): string {
	const lost = r.losses.length + r.omitted;
	return [
		r.rulesAdded.length > 0 ? `${plural(r.rulesAdded.length, "rule")} of yours added to the summary` : "",
		lost > 0 ? `${plural(lost, "fact")} not in the summary` : "",
	].filter(Boolean).join(" · ");
}

/** LossesOf shows the report of a compaction. Each fact leads to its item. */
export function LossesOf({ report, store }: { report: CompactionReport; store: ThreadStore }) {
	return (
		<Fold icon="list" class="loss-report" title={<span class="ellipsis">{titleOf(report)}</span>}>
			{report.rulesAdded.length > 0 && <AddedRules rules={report.rulesAdded} />}
			{kindsOf(report.losses).map((kind) => (
				<>
					<p class="loss-kind">{lossTitles[kind]}</p>
					<ul aria-label={lossTitles[kind]}>
						{report.losses.filter((l) => l.kind === kind).map((loss) => (
							<li>
								<span class="loss-text">{visible(loss.text)}</span>
								{loss.itemIds.length > 0 &&
									<button type="button" class="small" aria-label={`Show the item: ${loss.text}`} onClick={() => void show(store, loss)}>Show</button>}
							</li>
						))}
					</ul>
				</>
			))}
			<Omitted n={report.omitted} />
		</Fold>
	);
}

function AddedRules({ rules }: { rules: readonly string[] }) {
	return (
		<>
			<p class="loss-kind">Rules of yours that were added</p>
			<ul aria-label="Rules of yours that were added">{rules.map((r) => <li><span class="loss-text">{visible(r)}</span></li>)}</ul>
		</>
	);
}

/** Omitted says how many losses a report does not list. */
export function Omitted({ n }: { n: number }) {
	return n > 0 ? <p class="faint">{plural(n, "more fact is", "more facts are")} not listed.</p> : null;
}

/** show goes to the newest item of a loss: in the list, among the removed items, or in the timeline. */
async function show(store: ThreadStore, loss: CompactionLoss): Promise<void> {
	const id = loss.itemIds.at(-1)!;
	if (store.context.items.peek().some((i) => i.id === id)) {
		showContext(id);
		return;
	}
	try {
		const { item, original, reason } = await store.requests.call("context/readItem", { threadId: store.id, id });
		const query = sharedText(loss.text, textOfParts(original));
		if (query !== "" && ["compacted", "trimmed", "deleted"].includes(reason.code)) showRemoved(id, query);
		else if (item.itemId && item.turnId && (await store.items.load(item.itemId, item.turnId)))
			reveal.timeline(item.itemId);
		else store.notices.add("warning", `The item ${id} is not in the context any more: ${reason.text}`);
	} catch (error) {
		store.notices.report(error);
	}
}
