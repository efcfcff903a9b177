// One line beside the composer: what the turn adds to the context, what it costs, and how long it runs.

import { useEffect, useRef } from "preact/hooks";
import { connected } from "../store/app.ts";
import { moneyText } from "../store/money.ts";
import type { ThreadStore } from "../store/thread.ts";
import { TurnSummary as Store } from "../store/turnsummary.ts";
import { count, elapsed, short } from "../lib/format.ts";

/** The times between two moves of the clock. */
const tickMs = 1000;
const calmTickMs = 15_000;

/** TurnSummary shows the turn in progress, and afterwards the last one. */
export function TurnSummary({ store }: { store: ThreadStore }) {
	const s = store.part(Store);
	const ready = connected() && store.phase.value !== "loading" && store.phase.value !== "failed";
	useEffect(() => {
		if (ready) void s.load();
	}, [s, ready]);
	const turn = s.turn.value;
	if (!turn) return null;
	const added = s.added.value;
	const money = s.money.value;
	return (
		<p class="turn-summary">
			<span>{turn.tookMs === null ? "This turn" : "Last turn"}:{" "}</span>
			<span title={`${count(added)} tokens of the turn are in the next request`}>+{short(added)} tokens</span>
			{money && <> · {money.currency === "" && "cost "}<span title="What the requests of the turn cost, by the known prices">{moneyText(money)}</span></>}
			{" · "}<Clock startedMs={turn.startedMs} tookMs={turn.tookMs} />
		</p>
	);
}

/** Clock shows the time of a turn. It writes its own text, so that nothing else is rendered again. */
function Clock({ startedMs, tookMs }: { startedMs: number; tookMs: number | null }) {
	const el = useRef<HTMLSpanElement>(null);
	const text = () => elapsed(tookMs ?? Date.now() - startedMs);
	useEffect(() => {
		const show = () => {
			if (el.current) el.current.textContent = text();
		};
		show();
		if (tookMs !== null) return;
		const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		const timer = setInterval(show, calm ? calmTickMs : tickMs);
		return () => clearInterval(timer);
	}, [startedMs, tookMs]);
	return <span ref={el} class="clock" role="timer" aria-live="off" />;
}
