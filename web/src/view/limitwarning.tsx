// The warning before the next request reaches its limit.

import { lazy } from "../lib/lazy.tsx";
import { LimitWarning as Store } from "../store/limit.ts";
import type { ThreadStore } from "../store/thread.ts";

const Banner = lazy(() => import("./limitbanner.tsx").then((m) => m.LimitBanner));

/** LimitWarning shows the warning when there is little room left. Its file is loaded then. */
export function LimitWarning({ store }: { store: ThreadStore }) {
	const s = store.part(Store);
	return s.shown.value || s.dropped.value > 0 ? <Banner store={store} /> : null;
}
