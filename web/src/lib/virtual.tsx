// A list that mounts only the rows near the viewport.
//
// Rows are in normal flow between two paddings. A ResizeObserver reports the heights of mounted rows;
// a Fenwick tree has all heights, estimated until they are known. Only this file sets scrollTop.

import { useEffect, useLayoutEffect, useMemo, useRef, useState, type StateUpdater, type Dispatch } from "preact/hooks";
import type { AriaRole, ComponentChildren, RefObject, VNode } from "preact";
import { useLatest } from "./latest.ts";
import { ListModel, overscan, type Row } from "./listmodel.ts";

/** pinDistance is the distance from the end, in pixels, within which the list follows new rows. */
const pinDistance = 80;
/** nearEdge is the distance from the first or last row, in pixels, at which more rows are wanted. */
const nearEdge = 300;
/** settleTime is the time, in milliseconds, after which a jump mounts rows around the viewport, too. */
const settleTime = 60;

/** ListHandle scrolls a list. */
export interface ListHandle {
	/** show scrolls until the row is visible. */
	show(index: number, where?: "start" | "nearest"): void;
	/** hold keeps a row where it is when the rows change next. The list does not follow its end then. */
	hold(key: string): void;
	/** toEnd scrolls to the end and follows it. */
	toEnd(): void;
}

/** ListProps has the rows of a list and how they are shown. */
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
	/** onPinned is called after the list was scrolled. pinned reports whether it is at its end. */
	onPinned?(pinned: boolean): void;
	onKeyDown?(event: KeyboardEvent): void;
	multiselectable?: boolean;
}

/**
 * View is the part of a list that is rendered. version changes with the heights of rows. margin is the height that is
 * mounted around it.
 */
interface View {
	top: number;
	height: number;
	version: number;
	margin: number;
}

/** List is the state that the hooks of one list share. */
interface List {
	box: RefObject<HTMLDivElement | null>;
	model: ListModel;
	setView: Dispatch<StateUpdater<View>>;
}

/** VirtualList shows rows. It mounts those near the viewport. */
export function VirtualList<T extends Row>(props: ListProps<T>) {
	const { rows, estimate } = props;
	const box = useRef<HTMLDivElement>(null);
	const model = useMemo(() => new ListModel(estimate), []);
	const [view, setView] = useState<View>({ top: 0, height: 600, version: 0, margin: overscan });
	const list: List = { box, model, setView };
	const latest = useLatest(props as ListProps<Row>);

	model.update(rows);
	let [first, last] = model.range(model.anchored(view.top), view.height, view.margin);
	if (model.pinned && props.follow) {
		[first, last] = model.range(Math.max(0, model.tree.sum(rows.length) - view.height), view.height);
	}
	const observer = useHeights(list);
	useSettle(list, view);
	useLayoutEffect(() => place(list, latest.current.follow === true));
	useHandle(list, props.handle);

	const mounted: number[] = [];
	const focused = props.focusedKey ? model.indexes.get(props.focusedKey) : undefined;
	for (let i = first; i < last && i < rows.length; i++) mounted.push(i);
	const before = model.tree.sum(first);
	const after = model.tree.sum(rows.length) - model.tree.sum(last);
	const row = useBoxes(props, observer);
	return (
		<div ref={box} class={`scroll ${props.class ?? ""}`} role={props.role} aria-label={props.label}
			aria-rowcount={props.role === "treegrid" ? rows.length : undefined}
			aria-multiselectable={props.multiselectable}
			onScroll={() => scrolled(list, latest.current)} onKeyDown={props.onKeyDown} tabIndex={-1}>
			{focused !== undefined && focused < first && <div class="parked">{row(focused)}</div>}
			<div role="presentation" style={{ height: `${before}px` }} />
			{mounted.map(row)}
			<div role="presentation" style={{ height: `${after}px` }} />
			{focused !== undefined && focused >= last && <div class="parked">{row(focused)}</div>}
		</div>
	);
}

/** place restores the position of the anchor row, or the end, after rows or heights changed. */
function place({ box, model }: List, follow: boolean): void {
	const el = box.current;
	if (!el) return;
	const top = model.pinned && follow ? el.scrollHeight : model.anchored(el.scrollTop);
	if (Math.abs(el.scrollTop - top) >= 1) el.scrollTop = top;
	model.top = el.scrollTop;
}

/** scrolled mounts other rows, and asks for more near an end of the list. */
function scrolled({ box, model, setView }: List, props: ListProps<Row>): void {
	const el = box.current;
	if (!el) return; // the event of a list that is gone
	const { scrollTop, clientHeight } = el;
	const below = el.scrollHeight - scrollTop - clientHeight;
	model.scrolled(scrollTop, below < pinDistance);
	props.onPinned?.(model.pinned);
	const [a, b] = model.range(scrollTop, clientHeight);
	props.onScroll?.(model.tree.find(scrollTop), model.tree.find(scrollTop + clientHeight));
	if (scrollTop < nearEdge) props.onStart?.();
	if (below < nearEdge) props.onEnd?.();
	setView((v) => {
		const [c, d] = model.range(v.top, v.height, v.margin);
		if (a === c && b === d && v.height === clientHeight) return v;
		return { top: scrollTop, height: clientHeight, version: v.version, margin: b <= c || d <= a ? 0 : overscan };
	});
}

/** useSettle mounts the rows around the viewport a moment after a jump, which mounts those in the viewport only. */
function useSettle({ setView }: List, view: View): void {
	useEffect(() => {
		if (view.margin === overscan) return;
		const timer = setTimeout(() => setView((v) => ({ ...v, margin: overscan })), settleTime);
		return () => clearTimeout(timer);
	}, [view.margin, view.top]); // heights that change all the time do not hold it up
}

/** useHeights returns an observer that measures rows. It observes the list as well. */
function useHeights({ box, model, setView }: List): ResizeObserver {
	const observer = useMemo(() => new ResizeObserver((entries) => {
		let changed = false;
		for (const entry of entries) {
			const el = entry.target as HTMLElement;
			const height = entry.borderBoxSize[0]!.blockSize;
			if (el === box.current) changed = true;
			else if (el.isConnected && height !== 0 && model.measure(el.dataset["key"]!, height)) changed = true;
		}
		if (!changed || !box.current) return;
		const height = box.current.clientHeight;
		setView((v) => ({ ...v, top: box.current?.scrollTop ?? v.top, height, version: v.version + 1 }));
	}), []);
	useLayoutEffect(() => {
		const el = box.current!;
		observer.observe(el);
		setView((v) => ({ ...v, height: el.clientHeight }));
		return () => observer.disconnect();
	}, []);
	return observer;
}

/** useHandle lets the owner of a list scroll it. */
function useHandle({ box, model, setView }: List, handle: ListProps<Row>["handle"]): void {
	useLayoutEffect(() => {
		if (!handle) return;
		handle.current = {
			show(index, where = "nearest") {
				const el = box.current;
				if (!el || index < 0 || index >= model.keys.length) return;
				const start = model.tree.sum(index);
				const end = start + model.tree.get(index);
				model.pinned = false;
				let top = el.scrollTop;
				if (where === "start" || start < top) top = Math.max(0, start - 8);
				else if (end > top + el.clientHeight) top = end - el.clientHeight + 8;
				model.hold(model.keys[index]!, top);
				el.scrollTop = top;
				setView((v) => ({ top, height: el.clientHeight, version: v.version + 1, margin: overscan }));
			},
			hold(key) {
				if (!box.current || !model.indexes.has(key)) return;
				model.pinned = false;
				model.hold(key, box.current.scrollTop);
			},
			toEnd() {
				model.pinned = true;
				setView((v) => ({ ...v, version: v.version + 1 }));
			},
		};
	}, [handle]);
}

/**
 * useBoxes returns a function that returns the box of the row at an index. A box that is the same as in the last
 * rendering is the same object, so that Preact does not render it again.
 */
function useBoxes<T extends Row>({ rows, rowRole: role, render }: ListProps<T>, observer: ResizeObserver) {
	const last = useRef(new Map<string, VNode<RowBoxProps<T>>>());
	const next = new Map<string, VNode<RowBoxProps<T>>>();
	useLayoutEffect(() => void (last.current = next));
	return (index: number) => {
		const row = rows[index]!;
		let box = last.current.get(row.key);
		const old = box?.props;
		if (!box || old!.row !== row || old!.index !== index || old!.render !== render) {
			box = <RowBox key={row.key} row={row} index={index} render={render} role={role} observer={observer} />;
		}
		next.set(row.key, box);
		return box;
	};
}

interface RowBoxProps<T extends Row> extends Pick<ListProps<T>, "render"> {
	row: T;
	index: number;
	role: AriaRole | undefined;
	observer: ResizeObserver;
}

function RowBox<T extends Row>(p: RowBoxProps<T>) {
	const el = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const node = el.current!;
		p.observer.observe(node);
		return () => p.observer.unobserve(node);
	}, []);
	return (
		<div ref={el} class="row" role={p.role ?? "presentation"} data-key={p.row.key}>
			{p.render(p.row, p.index)}
		</div>
	);
}
