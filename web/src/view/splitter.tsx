// The edge of a column, which the user moves.

import { useRef } from "preact/hooks";
import { columnLimits, columnWidths, setColumnWidth, type Column } from "../store/panels.ts";

const names: Record<Column, string> = { threads: "Width of the list of threads", panel: "Width of the panel" };
const step = 24;

/** Splitter is the edge of a column at which its width is changed, by the pointer or by the arrow keys. */
export function Splitter({ column }: { column: Column }) {
	const el = useRef<HTMLDivElement>(null);
	const toRight = column === "threads" ? 1 : -1;
	const now = () => el.current!.parentElement!.getBoundingClientRect().width;
	const onPointerDown = (e: PointerEvent) => {
		if (e.button !== 0) return;
		e.preventDefault();
		const [from, width] = [e.clientX, now()];
		const move = (m: PointerEvent) => setColumnWidth(column, width + toRight * (m.clientX - from));
		const end = () => {
			removeEventListener("pointermove", move);
			removeEventListener("pointerup", end);
			removeEventListener("pointercancel", end);
		};
		addEventListener("pointermove", move);
		addEventListener("pointerup", end);
		addEventListener("pointercancel", end);
	};
	const onKeyDown = (e: KeyboardEvent) => {
		const by = { ArrowRight: step, ArrowLeft: -step }[e.key];
		if (by === undefined || e.altKey || e.ctrlKey) return;
		e.preventDefault();
		setColumnWidth(column, now() + toRight * by);
	};
	const [min, max] = columnLimits[column];
	const width = columnWidths[column].value;
	return (
		<div ref={el} class={`splitter splitter-${column}`} role="separator" aria-orientation="vertical" tabIndex={0} aria-label={names[column]}
			aria-valuemin={min} aria-valuemax={max} aria-valuenow={width ?? Math.round(min)}
			title={`${names[column]}. A double click restores it.`} onPointerDown={onPointerDown} onKeyDown={onKeyDown}
			onDblClick={() => setColumnWidth(column, null)} />
	);
}
