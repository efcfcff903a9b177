// Components in files of their own, which are loaded when they are first shown.

import { useEffect, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { Once } from "./once.ts";

/** lazy returns a component that loads another one. Until then, and if that fails, it shows a hint. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => preact.JSX.Element {
	const component = new Once(load);
	return function Lazy(props: P) {
		const [state, setState] = useState<"loading" | "ready" | "failed">(component.value ? "ready" : "loading");
		useEffect(() => {
			if (state !== "loading") return;
			let live = true;
			component.load().then(() => live && setState("ready"), () => live && setState("failed"));
			return () => {
				live = false;
			};
		}, [state]);
		const Loaded = component.value;
		if (Loaded) return <Loaded {...props} />;
		if (state === "failed") {
			return (
				<p class="hint" role="alert">This part of the page cannot be loaded.
					<button type="button" class="small" onClick={() => setState("loading")}>Try again</button></p>
			);
		}
		return <p class="hint">Loading…</p>;
	};
}
