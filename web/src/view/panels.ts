// Which parts of the page are open.

import { signal } from "@preact/signals";

const key = "appserver.panel";

export type Tab = "list" | "history";

export const threadsOpen = signal(true);
/** panelWanted reports whether the user wants the context panel on wide screens. */
export const panelWanted = (): boolean => localStorage.getItem(key) !== "closed";

export const panelOpen = signal(panelWanted());
/** panelTab is the view of the context panel. */
export const panelTab = signal<Tab>("list");

/** contextView is how the context is shown. */
export const contextView = signal<"list" | "map">("list");

export function togglePanel(): void {
	panelOpen.value = !panelOpen.value;
	if (innerWidth > 1100) localStorage.setItem(key, panelOpen.value ? "open" : "closed");
}

/** showPanel opens the context panel with a view. */
export function showPanel(tab: Tab): void {
	panelTab.value = tab;
	if (!panelOpen.value) togglePanel();
}
