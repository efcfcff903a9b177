// A question before something that cannot be undone.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { visible } from "../lib/format.ts";
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
	openDialog({ kind: "part", view: () => <Confirm {...c} /> });
}

function Confirm({ title, action, text, run }: Confirmation) {
	const [failure, setFailure] = useState("");
	const attempt = () => run().then(() => true, (error: Error) => {
		setFailure(error.message);
		return false;
	});
	return (
		<Frame title={title} action={action} danger run={attempt}>
			{text}
			{failure && <p class="error-text" role="alert">{visible(failure)}</p>}
		</Frame>
	);
}
