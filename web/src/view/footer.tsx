// The price of the plan, and the buttons that apply it.

import type { ThreadStore } from "../store/thread.ts";
import { count, percent, plural } from "../lib/format.ts";
import type { ContextPreviewResponse } from "../wire/types.ts";

interface NetPrice {
	tokensSaved: number;
	tokensLeavingCache: number;
	requestsToPayBack: number | null;
}

export function Footer({ store }: { store: ThreadStore }) {
	const plan = store.plan.value;
	const preview = store.preview.value;
	return (
		<div class="footer">
			<label class="mode" title="With a plan, changes are collected and applied together. Without it, each change is applied at once.">
				<input type="checkbox" checked={!store.direct.value} onChange={(e) => store.setDirect(!e.currentTarget.checked)} />
				Plan changes
			</label>
			{plan.size > 0 && (
				<>
					<p class="price" role="status">
						{store.previewError.value ? <span class="error-text">{store.previewError.value}</span>
							: preview ? <Price preview={preview} /> : "Calculating…"}
					</p>
					{preview && preview.warnings.length > 0 && (
						<details class="warnings">
							<summary>{plural(preview.warnings.length, "warning")}</summary>
							<ul>{preview.warnings.map((w) => <li>{textOf(w)}</li>)}</ul>
						</details>
					)}
					<div class="footer-actions">
						<button type="button" onClick={() => store.discard()}>Discard</button>
						<span class="spacer" />
						{store.turn.value && (
							<button type="button" disabled={store.applying.value} onClick={() => void store.applyPlan("turnEnd")}>Apply after this turn</button>
						)}
						<button type="button" class="primary" disabled={store.applying.value || store.previewError.value !== ""}
							onClick={() => void store.applyPlan()}>Apply {plural(plan.size, "change")}</button>
					</div>
				</>
			)}
		</div>
	);
}

function textOf(warning: unknown): string {
	return typeof warning === "string" ? warning : (warning as { message: string }).message;
}

function Price({ preview }: { preview: ContextPreviewResponse }) {
	const saved = preview.before.promptTokens - preview.after.promptTokens;
	const share = preview.before.promptTokens > 0 ? saved / preview.before.promptTokens : 0;
	const net = (preview as { netPrice?: NetPrice | null }).netPrice;
	const sign = saved > 0 ? "−" : saved < 0 ? "+" : "±";
	return (
		<>
			<strong>{sign}{count(Math.abs(saved))} tokens</strong> ({sign}{percent(Math.abs(share))})
			{net && net.tokensLeavingCache > 0 && <> · {count(net.tokensLeavingCache)} leave the cache</>}
			{net && saved > 0 && net.requestsToPayBack !== null && net.tokensLeavingCache > 0 &&
				<> · pays back after {plural(Math.ceil(net.requestsToPayBack), "request")}</>}
		</>
	);
}
