// A list that mounts only the rows near the viewport.
//
// Rows are in normal flow between two paddings. A ResizeObserver reports the heights of mounted rows;
// a Fenwick tree has all heights, estimated until they are known. Only `place` sets scrollTop.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AriaRole, ComponentChildren, RefObject } from "preact";
import { Fenwick } from "./fenwick.ts";

/** pinDistance is the distance from the end, in pixels, within which the list follows new rows. */
const pinDistance = 80;
/** overscan is the height, in pixels, that is mounted above and below the viewport. */
const overscan = 400;

/** nearEdge is the distance from the first or last row, in pixels, at which more rows are wanted. */
const nearEdge = 300;

export interface Row {
	key: string;
}

export interface ListHandle {
	/** show scrolls until the row is visible. */
	show(index: number, where?: "start" | "nearest"): void;
	/** hold keeps a row where it is when the rows change next. The list does not follow its end then. */
	hold(key: string): void;
	/** toEnd scrolls to the end and follows it. */
	toEnd(): void;
	/** mounted returns the number of mounted rows. */
	mounted(): number;
}

export interface ListProps<T extends Row> {
	rows: readonly T[];
	render(row: T, index: number): ComponentChildren;
	estimate: number;
	class?: string;
	label: string;
	role: AriaRole;
	/** rowRole is the role of the element around each row. */
	rowRole?: AriaRole;
	/** follow keeps the end visible while it is visible already. */
	follow?: boolean;
	/** focusedKey is a row that stays mounted, because it has the focus. */
	focusedKey?: string | null;
	handle?: RefObject<ListHandle | null>;
	/** onStart and onEnd are called when the first or the last row is near. */
	onStart?(): void;
	onEnd?(): void;
	onScroll?(first: number, last: number): void;
	onKeyDown?(event: KeyboardEvent): void;
	multiselectable?: boolean;
}

/** Model has the heights of all rows by key, and the part that is mounted. */
class Model {
	heights = new Map<string, number>();
	tree = new Fenwick(0, 0);
	indexes = new Map<string, number>();
	keys: string[] = [];
	pinned = true;

	constructor(private readonly estimate: number) {}

	/** update rebuilds the tree if the keys changed. */
	update(rows: readonly Row[]): void {
		let same = rows.length >= this.keys.length;
		for (let i = 0; same && i < this.keys.length; i++) same = rows[i]!.key === this.keys[i];
		if (same && rows.length === this.keys.length) return;
		this.keys = rows.map((r) => r.key);
		this.indexes = new Map(this.keys.map((k, i) => [k, i]));
		this.tree = new Fenwick(rows.length, this.estimate);
		for (let i = 0; i < rows.length; i++) {
			const h = this.heights.get(this.keys[i]!);
			if (h !== undefined) this.tree.set(i, h);
		}
		if (this.heights.size > 4 * rows.length + 1000) {
			for (const key of this.heights.keys()) if (!this.indexes.has(key)) this.heights.delete(key);
		}
	}

	range(top: number, height: number): [number, number] {
		if (this.keys.length === 0) return [0, 0];
		const first = this.tree.find(Math.max(0, top - overscan));
		const last = this.tree.find(top + height + overscan);
		return [first, last + 1];
	}
}

export function VirtualList<T extends Row>(props: ListProps<T>) {
	const { rows, estimate } = props;
	const box = useRef<HTMLDivElement>(null);
	const model = useMemo(() => new Model(estimate), []);
	const anchor = useRef<{ key: string; offset: number } | null>(null);
	const [view, setView] = useState({ top: 0, height: 600, version: 0 });
	const latest = useRef(props);
	latest.current = props;

	model.update(rows);
	/** anchored returns the scroll position that keeps the anchor row in place. */
	const anchored = (otherwise: number): number => {
		const index = anchor.current ? model.indexes.get(anchor.current.key) : undefined;
		return index === undefined ? otherwise : model.tree.sum(index) + anchor.current!.offset;
	};
	let [first, last] = model.range(anchored(view.top), view.height);
	if (model.pinned && props.follow) [first, last] = model.range(Math.max(0, model.tree.sum(rows.length) - view.height), view.height);

	/** place restores the position of the anchor row, or the end, after rows or heights changed. */
	const place = () => {
		const el = box.current;
		if (!el) return;
		let top = el.scrollTop;
		if (model.pinned && latest.current.follow) {
			top = el.scrollHeight;
		} else {
			top = anchored(top);
		}
		if (Math.abs(el.scrollTop - top) >= 1) el.scrollTop = top;
	};

	const remember = (el: HTMLDivElement) => {
		const index = model.tree.find(el.scrollTop);
		const key = model.keys[index];
		anchor.current = key === undefined ? null : { key, offset: el.scrollTop - model.tree.sum(index) };
	};

	const onScroll = () => {
		const el = box.current;
		if (!el) return; // the event of a list that is gone
		const { scrollTop, clientHeight } = el;
		const total = el.scrollHeight;
		model.pinned = total - scrollTop - clientHeight < pinDistance;
		remember(el);
		const [a, b] = model.range(scrollTop, clientHeight);
		latest.current.onScroll?.(model.tree.find(scrollTop), model.tree.find(scrollTop + clientHeight));
		if (scrollTop < nearEdge) latest.current.onStart?.();
		if (total - scrollTop - clientHeight < nearEdge) latest.current.onEnd?.();
		setView((v) => {
			const [c, d] = model.range(v.top, v.height);
			return a === c && b === d && v.height === clientHeight ? v : { top: scrollTop, height: clientHeight, version: v.version };
		});
	};

	const observer = useMemo(() => new ResizeObserver((entries) => {
		let changed = false;
		for (const entry of entries) {
			const el = entry.target as HTMLElement;
			if (el === box.current) {
				changed = true;
				continue;
			}
			const key = el.dataset["key"]!;
			const height = entry.borderBoxSize[0]!.blockSize;
			if (!el.isConnected || height === 0 || model.heights.get(key) === height) continue;
			model.heights.set(key, height);
			const index = model.indexes.get(key);
			if (index !== undefined) model.tree.set(index, height);
			changed = true;
		}
		if (!changed || !box.current) return;
		const height = box.current.clientHeight;
		setView((v) => ({ top: box.current?.scrollTop ?? v.top, height, version: v.version + 1 }));
	}), []);

	useLayoutEffect(() => {
		const el = box.current!;
		observer.observe(el);
		setView((v) => ({ ...v, height: el.clientHeight }));
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(place);

	if (props.handle) {
		props.handle.current = {
			show(index, where = "nearest") {
				const el = box.current;
				if (!el || index < 0 || index >= model.keys.length) return;
				const start = model.tree.sum(index);
				const end = start + model.tree.get(index);
				model.pinned = false;
				let top = el.scrollTop;
				if (where === "start" || start < top) top = Math.max(0, start - 8);
				else if (end > top + el.clientHeight) top = end - el.clientHeight + 8;
				anchor.current = { key: model.keys[index]!, offset: top - start };
				el.scrollTop = top;
				setView((v) => ({ top, height: el.clientHeight, version: v.version + 1 }));
			},
			hold(key) {
				const index = model.indexes.get(key);
				if (!box.current || index === undefined) return;
				model.pinned = false;
				anchor.current = { key, offset: box.current.scrollTop - model.tree.sum(index) };
			},
			toEnd() {
				model.pinned = true;
				setView((v) => ({ ...v, version: v.version + 1 }));
			},
			mounted: () => last - first,
		};
	}

	const mounted: number[] = [];
	const focused = props.focusedKey ? model.indexes.get(props.focusedKey) : undefined;
	for (let i = first; i < last && i < rows.length; i++) mounted.push(i);
	const before = model.tree.sum(first);
	const after = model.tree.sum(rows.length) - model.tree.sum(last);
	const row = (i: number) => (
		<RowBox key={rows[i]!.key} id={rows[i]!.key} index={i} count={rows.length} role={props.rowRole} observer={observer}>
			{props.render(rows[i]!, i)}
		</RowBox>
	);
	return (
		<div ref={box} class={`scroll ${props.class ?? ""}`} role={props.role} aria-label={props.label}
			aria-rowcount={props.role === "treegrid" ? rows.length : undefined}
			aria-multiselectable={props.multiselectable}
			onScroll={onScroll} onKeyDown={props.onKeyDown} tabIndex={-1}>
			{focused !== undefined && focused < first && <div class="parked">{row(focused)}</div>}
			<div role="presentation" style={{ height: `${before}px` }} />
			{mounted.map(row)}
			<div role="presentation" style={{ height: `${after}px` }} />
			{focused !== undefined && focused >= last && <div class="parked">{row(focused)}</div>}
		</div>
	);
}

interface RowBoxProps {
	id: string;
	index: number;
	count: number;
	role: AriaRole | undefined;
	observer: ResizeObserver;
	children: ComponentChildren;
}

function RowBox(p: RowBoxProps) {
	const el = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const node = el.current!;
		p.observer.observe(node);
		return () => p.observer.unobserve(node);
	}, []);
	return (
		<div ref={el} class="row" role={p.role ?? "presentation"} data-key={p.id}>
			{p.children}
		</div>
	);
}
