// The frame of dialogs: a title, buttons, and the failure of what the dialog does.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import * as app from "../store/app.ts";
import { closeDialog } from "../store/dialog.ts";
import type { Notice } from "../store/notices.ts";
import { visible } from "../lib/format.ts";

interface FrameProps {
	title: string;
	action?: string;
	danger?: boolean;
	disabled?: boolean;
	wide?: boolean;
	/** close is the name of the button that closes the dialog. */
	close?: string;
	/** extra is a button beside the others. */
	extra?: ComponentChildren;
	/**
	 * run does what the dialog is for. The dialog stays open if it rejects, or returns false. Then the dialog shows the
	 * error: the one that it rejects with, or the one that it reported to the thread or to the page.
	 */
	run?(): Promise<boolean | void> | boolean | void;
	children: ComponentChildren;
}

/** Frame is a dialog with a title and buttons. */
export function Frame(p: FrameProps) {
	const el = useRef<HTMLDialogElement>(null);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState("");
	useLayoutEffect(() => { // so that the focus is back when the dialog is gone
		const node = el.current!;
		const before = document.activeElement as HTMLElement | null;
		node.showModal();
		return () => {
			node.close();
			before?.focus();
		};
	}, []);
	const submit = async (e: Event) => {
		e.preventDefault();
		if (!p.run || p.disabled || busy) return;
		setBusy(true);
		app.failure.value = "";
		const before = app.current.value?.notices.list.value ?? [];
		try {
			if ((await p.run()) === false) setFailure(takeReported(before));
			else closeDialog();
		} catch (error) {
			setFailure((error as Error).message);
		} finally {
			setBusy(false);
		}
	};
	return (
		<dialog ref={el} class={p.wide ? "wide" : ""} aria-label={p.title} onCancel={(e) => {
			e.preventDefault();
			closeDialog();
		}} onClose={() => el.current?.isConnected && closeDialog()} onClick={(e) => e.target === el.current && closeDialog()}>
			<form onSubmit={(e) => void submit(e)}>
				<h2>{p.title}</h2>
				<div class="dialog-body">{p.children}</div>
				{failure && <p class="error-text pre" role="alert">{visible(failure)}</p>}
				<div class="dialog-buttons">
					<button type="button" onClick={closeDialog}>{p.close ?? (p.run ? "Cancel" : "Close")}</button>
					{p.extra}
					{p.run && <button type="submit" class={p.danger ? "danger-button" : "primary"} disabled={p.disabled || busy}>{p.action ?? "OK"}</button>}
				</div>
			</form>
		</dialog>
	);
}

/** takeReported moves a reported error from the page below to the dialog. The notices before the request stay. */
function takeReported(before: readonly Notice[]): string {
	const store = app.current.value;
	const notice = store?.notices.list.value.find((n) => n.kind === "error" && !before.includes(n));
	if (notice) store!.notices.close(notice.id);
	const text = notice?.text ?? app.failure.value;
	app.failure.value = "";
	return text;
}
