// The price of the plan, and the buttons that apply it.

import type { ThreadStore } from "../store/thread.ts";
import { count, percent, plural } from "../lib/format.ts";
import type { ContextNetPrice } from "../wire/types.ts";

/** Footer shows the plan with its price, and applies it. */
export function Footer({ store }: { store: ThreadStore }) {
	const plan = store.plan.changes.value;
	const preview = store.plan.preview.value;
	return (
		<div class="footer">
			<label class="mode" title="With a plan, changes are collected and applied together. Without it, each change is applied at once.">
				<input type="checkbox" checked={!store.plan.direct.value} onChange={(e) => store.plan.setDirect(!e.currentTarget.checked)} />
				Plan changes
			</label>
			{plan.size > 0 && (
				<>
					<p class="price" role="status">
						{store.plan.previewError.value ? <span class="error-text">{store.plan.previewError.value}</span>
							: preview ? <NetPrice price={preview.netPrice} promptTokens={preview.before.promptTokens} /> : "Calculating…"}
					</p>
					{preview && preview.warningDetails.length > 0 && (
						<details class="warnings">
							<summary>{plural(preview.warningDetails.length, "warning")}</summary>
							<ul>{preview.warningDetails.map((w) => <li key={w.code}>{w.text}</li>)}</ul>
						</details>
					)}
					<div class="footer-actions">
						<button type="button" onClick={() => store.plan.discard()}>Discard</button>
						<span class="spacer" />
						{store.turns.current.value && (
							<button type="button" disabled={store.plan.applying.value} onClick={() => void store.plan.apply("turnEnd")}>Apply after this turn</button>
						)}
						<button type="button" class="primary" disabled={store.plan.applying.value || store.plan.previewError.value !== ""}
							onClick={() => void store.plan.apply()}>Apply {plural(plan.size, "change")}</button>
					</div>
				</>
			)}
		</div>
	);
}

interface PriceProps {
	price: ContextNetPrice;
	/** promptTokens is the size of the next request without the edit. With null the share is left out. */
	promptTokens: number | null;
}

/** NetPrice shows what an edit saves, what leaves the cache, and when that pays back. */
export function NetPrice({ price, promptTokens }: PriceProps) {
	const { tokensSaved, tokensLeavingCache, requestsToPayBack } = price;
	const share = promptTokens ? tokensSaved / promptTokens : 0;
	const sign = tokensSaved > 0 ? "−" : tokensSaved < 0 ? "+" : "±";
	return (
		<>
			<strong>{sign}{count(Math.abs(tokensSaved))} tokens</strong>
				{promptTokens !== null && <> ({sign}{percent(Math.abs(share))})</>}
			{tokensLeavingCache > 0 && <> · {count(tokensLeavingCache)} leave the cache</>}
			{tokensLeavingCache > 0 && tokensSaved > 0 &&
				<> · {requestsToPayBack === null ? "never pays back"
					: `pays back after ${plural(requestsToPayBack, "request")}`}</>}
		</>
	);
}
