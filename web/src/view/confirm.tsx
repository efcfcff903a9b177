// A question before something that cannot be undone.

import type { ComponentChildren } from "preact";
import { openDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";

/** Confirmation is a question before an action that cannot be undone. */
export interface Confirmation {
	title: string;
	action: string;
	text: ComponentChildren;
	/** run does it. A failure is shown in the dialog. */
	run(): Promise<unknown>;
}

/** confirm asks before it runs an action. */
export function confirm(c: Confirmation): void {
	const run = async () => void (await c.run());
	openDialog({ kind: "part", view: () => <Frame title={c.title} action={c.action} danger run={run}>{c.text}</Frame> });
}
