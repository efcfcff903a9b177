// The form for the goal of suggestions.

import type { GoalUnit } from "../store/suggestions.ts";
import type { ThreadStore } from "../store/thread.ts";

/** refreshId is the id of the button that reads the suggestions again. */
export const refreshId = "suggest-refresh";

/** Goal is the form for the size of the next request. */
export function Goal({ store }: { store: ThreadStore }) {
	const s = store.suggestions;
	const percents = s.goalUnit.value === "percent";
	return (
		<form class="suggest-head" onSubmit={(e) => {
			e.preventDefault();
			s.refused.value = new Set();
			void s.refresh();
		}}>
			<label class="suggest-goal">Goal
				<input type="number" min={1} max={percents ? 100 : undefined} placeholder="none" value={s.goal.value ?? ""}
					onInput={(e) => (s.goal.value = Number.isFinite(e.currentTarget.valueAsNumber) ? e.currentTarget.valueAsNumber
						: null)} />
			</label>
			<select class="suggest-unit" aria-label="Unit of the goal" value={s.goalUnit.value}
				title={percents ? "The share of the next request that should go" : "The tokens that the next request may have"}
				onChange={(e) => s.setGoalUnit(e.currentTarget.value as GoalUnit)}>
				<option value="percent">% fewer tokens</option>
				<option value="tokens">tokens at most</option>
			</select>
			<span class="spacer" />
			<button type="submit" class="small" id={refreshId} aria-disabled={s.loading.value}>{s.loading.value ? "Refreshing…" : "Refresh"}</button>
		</form>
	);
}
