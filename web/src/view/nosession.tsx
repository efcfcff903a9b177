// The view of a page that the server does not let in: how to get in.

import { useState } from "preact/hooks";
import { enter } from "../store/access.ts";
import { CopyButton } from "../lib/copy.tsx";

const command = "appserver web --ticket";

/** NoSession says what to run, and takes the address that the command prints. */
export function NoSession({ reason }: { reason: string }) {
	const [text, setText] = useState("");
	const [problem, setProblem] = useState("");
	const [busy, setBusy] = useState(false);
	const submit = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		setProblem(await enter(text).catch((error: Error) => error.message));
		setBusy(false);
	};
	return (
		<main class="empty nosession">
			<h1>This page has no session</h1>
			<p>{reason}</p>
			<p>Run this command on the machine of the server:</p>
			<div class="nosession-command"><code>{command}</code><CopyButton text={command} label="Copy" /></div>
			<p>It prints an address. Open the address, or paste it here:</p>
			<form onSubmit={(e) => void submit(e)}>
				<input type="text" aria-label="Address or ticket" placeholder={`${location.origin}/#ticket=…`} value={text}
					autocomplete="off" spellcheck={false} autofocus aria-invalid={problem !== ""} aria-describedby="enter-problem"
					onInput={(e) => setText(e.currentTarget.value)} />
				<button class="primary" type="submit" disabled={busy || text.trim() === ""}>Open</button>
			</form>
			<p id="enter-problem" class="error-text" role="alert">{problem}</p>
			<p class="faint">If no server runs, <code>appserver web</code> starts one and opens the page. Drafts that you have written here stay in this browser.</p>
		</main>
	);
}
