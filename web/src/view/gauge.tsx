// How full the context is, and by what.

import { categoryName } from "../wire/contextwords.ts";
import type { ThreadStore } from "../store/thread.ts";
import { count, percent, short } from "../lib/format.ts";
import { highShare, windowOf } from "../lib/window.ts";
import type { ContextCategory } from "../wire/types.ts";

/** Ring is the gauge of the top bar. */
export function Ring({ store, onClick }: { store: ThreadStore; onClick(): void }) {
	const usage = store.context.usage.value;
	if (!usage) return null;
	const share = usage.promptTokens / windowOf(usage);
	const circle = 2 * Math.PI * 7;
	const level = share > highShare ? "high" : share > 0.7 ? "middle" : "";
	return (
		<button class={`ring ${level}`} type="button" onClick={onClick}
			title={`${count(usage.promptTokens)} of ${count(windowOf(usage))} tokens in the next request`}
			aria-label={`Context: ${percent(share)} used`}>
			<svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
				<circle cx="9" cy="9" r="7" class="ring-back" />
				<circle cx="9" cy="9" r="7" class="ring-front" stroke-dasharray={`${circle * Math.min(1, share)} ${circle}`} transform="rotate(-90 9 9)" />
			</svg>
			<span>{percent(share)}</span>
		</button>
	);
}

/** Bar shows the shares of the categories in the context window. */
export function Bar({ store }: { store: ThreadStore }) {
	const usage = store.context.usage.value;
	if (!usage) return null;
	const size = Math.max(windowOf(usage), usage.promptTokens);
	const after = store.plan.preview.value?.after ?? null;
	const overhead = Math.max(0, usage.promptTokens - usage.includedTokens);
	const parts = usage.byCategory.filter((c) => c.includedTokens > 0);
	const cached = store.turns.tokens.value?.last.cachedInputTokens ?? 0;
	return (
		<div class="gauge">
			<div class="gauge-text">
				<strong>{count(usage.promptTokens)}</strong>
				<span class="faint"> of {short(windowOf(usage))} tokens{usage.modelContextWindow === null ? " (assumed)"
					: ""}</span>
				{after && <span class="after"> → {count(after.promptTokens)}</span>}
				<span class="spacer" />
				{cached > 0 && !after && <span class="faint" title="input tokens that the provider read from its cache in the last request">{short(cached)} cached</span>}
			</div>
			<div class="bar-box">
				<div class="bar" role="img" aria-label={`${percent(usage.promptTokens / size)} of the context window`}>
					<Part name="overhead" label="System prompt and tools" tokens={overhead} size={size} />
					{parts.map((c) =>
						<Part name={c.category} label={categoryName(c.category)} tokens={c.includedTokens} size={size} />)}
					{cached > 0 && <i class="cached" style={{ width: `${(cached / size) * 100}%` }}
						title={`${count(cached)} tokens were cached`} />}
				</div>
				<Ticks store={store} window={windowOf(usage)} size={size} />
			</div>
		</div>
	);
}

/** Ticks mark the size at which the server compacts the context, and the size that it aims for. */
function Ticks({ store, window, size }: { store: ThreadStore; window: number; size: number }) {
	const { limitTokens, limitShare, targetShare } = store.settings.compaction.value;
	if (limitTokens === 0) return null;
	const limit = limitTokens !== null && limitTokens < window ? limitTokens : window * limitShare;
	const target = window * targetShare * Math.min(1, limit / (window * limitShare));
	return (
		<>
			<i class="tick target" style={{ left: `${(target / size) * 100}%` }} title={`a compaction aims for ${count(target)} tokens`} />
			<i class="tick" style={{ left: `${(limit / size) * 100}%` }} title={`the context is compacted above ${count(limit)} tokens`} />
		</>
	);
}

function Part({ name, label, tokens, size }: { name: ContextCategory | "overhead"; label: string; tokens: number;
	size: number }) {
	if (tokens === 0) return null;
	return <span class={`part cat-${name}`} style={{ width: `${(tokens / size) * 100}%` }}
		title={`${label}: ${count(tokens)} tokens`} />;
}
