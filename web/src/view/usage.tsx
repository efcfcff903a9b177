// What the thread has spent, and what edits of its context have saved.

import { useEffect } from "preact/hooks";
import { useResource } from "./useresource.ts";
import type { ThreadStore } from "../store/thread.ts";
import { cachedShare, readUsage, type Usage as Sums } from "../store/usage.ts";
import { amount, percent, plural, visible } from "../lib/format.ts";

/** Usage shows what the requests of a thread cost. */
export function Usage({ store }: { store: ThreadStore }) {
	const usage = useResource(() => readUsage(store.requests, store.settings.thread.peek()?.cwd), [store]);
	useEffect(() => usage.soon(), [store.turns.tokens.value, store.turns.current.value, store.context.revision.value]);
	const sums = usage.value.value;
	return (
		<section class="usage" aria-label="Spent and saved">
			<p class="usage-title">Spent and saved</p>
			{usage.failure.value ? (
				<p class="usage-failure" role="alert">
					<span class="error-text">It could not be read: {visible(usage.failure.value.message)}</span>
					<button type="button" class="small" onClick={() => void usage.load()}>Try again</button>
				</p>
			) : !sums ? <p class="faint">Reading what was spent…</p>
				: sums.total.requests === 0 ? <p class="faint">The thread has sent no request yet.</p>
				: <SumsOf sums={sums} />}
		</section>
	);
}

function SumsOf({ sums: { total, money } }: { sums: Sums }) {
	const share = cachedShare(total);
	return (
		<>
			<dl>
				<dt>Sent</dt>
				<dd>{plural(total.tokens.inputTokens, "token")} in {plural(total.requests, "request")}{share !== null && <>, <strong>{percent(share)}</strong> from the cache</>}</dd>
				{total.cost === null ? <><dt>Cost</dt><dd>unknown: the provider reported no tokens</dd></> : (
					<>
						<dt>Cost</dt>
						<dd><strong>{plural(Math.round(total.cost), "token")}</strong> at the full price{money && <> = <strong>{amount(money.cost)}</strong></>}</dd>
						<dt>Saved by edits</dt>
						<dd><strong>{plural(total.saved ?? 0, "token")}</strong>{money && <>, <strong>{amount(money.saved)}</strong> at the full price</>}</dd>
					</>
				)}
			</dl>
			{total.cost !== null && (
				<p class="faint">Cached tokens count less in the cost, and output tokens more if their price is known.{" "}
					{(total.saved ?? 0) > 0 && "Some of the saved tokens would have come from the cache, too. "}
					{money ? "Money is in the currency of model_prices." : "The cost in money is not known: model_prices has no price of the model."}
					{money !== null && money.unpriced > 0 &&
						` ${plural(money.unpriced, "request of models without a price is", "requests of models without a price are")} left out.`}</p>
			)}
		</>
	);
}
