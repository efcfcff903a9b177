// Which parts of the page are open, and how they show their content.

import { signal } from "@preact/signals";
import { keep } from "../lib/keep.ts";
import { toggled } from "../lib/toggled.ts";
import { lasting } from "../wire/storage.ts";
import { listOrders, type ListOrder } from "./contextrows.ts";
import { reveal } from "./reveal.ts";

const key = "appserver.panel";
const wideKey = "appserver.panel.wide";
const splitKey = "appserver.diff.split";
const orderKey = "appserver.context.order";

/** tabs are the views of the panel in the order of their keys, Alt+1 and so on. */
export const tabs = ["list", "history", "changes", "checkpoints", "memory", "terminals"] as const;

/** Tab is a view of the panel. */
export type Tab = (typeof tabs)[number];

/** tabNames are the names of the views. */
export const tabNames: Record<Tab, string> = {
	list: "Context", history: "Edits", changes: "Changes", checkpoints: "Checkpoints", memory: "Memory", terminals: "Terminals",
};

/** threadsOpen shows the list of threads. */
export const threadsOpen = signal(true);
/** panelWanted reports whether the user wants the panel on wide screens. */
export const panelWanted = (): boolean => lasting.getItem(key) !== "closed";

/** panelOpen shows the panel. */
export const panelOpen = signal(panelWanted());
/** panelWide gives the panel half of the page. */
export const panelWide = signal(lasting.getItem(wideKey) === "true");
/** panelTab is the view of the panel. */
export const panelTab = signal<Tab>("list");

/** listOrder is how the list of items is sorted. */
export const listOrder = signal<ListOrder>(storedOrder());

function storedOrder(): ListOrder {
	const stored = lasting.getItem(orderKey);
	return listOrders.find(([order]) => order === stored)?.[0] ?? "turn";
}

/** sortList sorts the list of items, also when the page is opened again. */
export function sortList(order: ListOrder): void {
	listOrder.value = order;
	keep(lasting, orderKey, order);
}

/** nextOrder sorts the list in the next order. */
export function nextOrder(): void {
	const at = listOrders.findIndex(([order]) => order === listOrder.value);
	sortList(listOrders[(at + 1) % listOrders.length]![0]);
}

/** contextView is how the context is shown. */
export const contextView = signal<"list" | "map">("list");

/** MapOrder is how the map of the context arranges the items. */
export type MapOrder = "strip" | "turn" | "category" | "tool";

/** mapOrder is the order that the user chose. */
export const mapOrder = signal<MapOrder>("strip");

/** diffSplit shows the former and the new lines of differences side by side. */
export const diffSplit = signal(lasting.getItem(splitKey) === "true");

/** splitDiff chooses between lines side by side and below each other. */
export function splitDiff(on: boolean): void {
	diffSplit.value = on;
	keep(lasting, splitKey, String(on));
}

/** togglePanel opens or closes the panel. On wide screens it stays so. */
export function togglePanel(): void {
	panelOpen.value = !panelOpen.value;
	if (innerWidth > 1100) keep(lasting, key, panelOpen.value ? "open" : "closed");
}

/** toggleWide gives the panel half of the page, or less. */
export function toggleWide(): void {
	panelWide.value = !panelWide.value;
	keep(lasting, wideKey, String(panelWide.value));
}

/** showPanel opens the panel with a view. */
export function showPanel(tab: Tab): void {
	panelTab.value = tab;
	if (!panelOpen.value) togglePanel();
}

/** showContext selects a context item in the panel. */
export function showContext(id: string): void {
	showPanel("list");
	requestAnimationFrame(() => requestAnimationFrame(() => reveal.context(id))); // the list is rendered then
}

/** showRemoved finds an item that is not in the list any more by a text that it has. */
export function showRemoved(id: string, query: string): void {
	showPanel("list");
	requestAnimationFrame(() => requestAnimationFrame(() => reveal.removed(id, query)));
}

const foldedKey = "appserver.threads.folded";
/** maxFolded is the number of folded projects that are kept. */
const maxFolded = 200;

function readFolded(): ReadonlySet<string> {
	try {
		const list: unknown = JSON.parse(lasting.getItem(foldedKey) ?? "[]");
		return new Set(Array.isArray(list) ? list.filter((k) => typeof k === "string") : []);
	} catch {
		return new Set(); // another program wrote it
	}
}

/** foldedProjects are the projects of the list whose threads are hidden. */
export const foldedProjects = signal<ReadonlySet<string>>(readFolded());

/** foldProject hides the threads of a project, or shows them. */
export function foldProject(key: string): void {
	foldedProjects.value = toggled(foldedProjects.value, key);
	keep(lasting, foldedKey, JSON.stringify([...foldedProjects.value].slice(-maxFolded)));
}

/** openTeams has the choice of the user whether the agents of a thread are listed. */
export const openTeams = signal<ReadonlyMap<string, boolean>>(new Map());

/** openTeam lists the agents of a thread, or hides them. */
export function openTeam(id: string, open: boolean): void {
	openTeams.value = new Map(openTeams.value).set(id, open);
}

/** Column is a part of the page whose width the user chooses. */
export type Column = "threads" | "panel";

/** columnLimits are the smallest and the largest width in pixels. */
export const columnLimits: Record<Column, readonly [number, number]> = { threads: [180, 520], panel: [300, 1200] };

const widthKey = (c: Column): string => `appserver.width.${c}`;

const readWidth = (c: Column): number | null => {
	const width = Number(lasting.getItem(widthKey(c)));
	return width > 0 ? clampWidth(c, width) : null;
};

const clampWidth = (c: Column, width: number): number =>
	Math.round(Math.min(columnLimits[c][1], Math.max(columnLimits[c][0], width)));

/** columnWidths are the widths that the user chose, or null. */
export const columnWidths = { threads: signal(readWidth("threads")), panel: signal(readWidth("panel")) };

/** setColumnWidth gives a column a width in pixels, or with null the one by default. It stays so. */
export function setColumnWidth(c: Column, width: number | null): void {
	columnWidths[c].value = width === null ? null : clampWidth(c, width);
	keep(lasting, widthKey(c), width === null ? "" : String(columnWidths[c].value));
}
