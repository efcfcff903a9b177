// Whether the browser notifies of waiting questions and finished turns.

import { useState } from "preact/hooks";
import { allowed, supported, want, wanted } from "../store/alerts.ts";

/** Alerts turns the notifications of this browser on and off. */
export function Alerts() {
	const [refused, setRefused] = useState(false);
	const on = wanted.value && allowed();
	return (
		<>
			<label class="option">
				<input type="checkbox" checked={on} disabled={!supported()}
					onChange={(e) => void want(e.currentTarget.checked).then((ok) => setRefused(!ok))} />
				<span>Notify me of waiting questions and finished turns
					<span class="faint"> while I look at something else. The choice holds for this browser.</span></span>
			</label>
			{!supported() && <p class="hint">This browser has no notifications.</p>}
			{refused && <p class="error-text" role="alert">The browser does not allow notifications of this page. Allow them in its settings
				for {location.host}, and try again.</p>}
			<p class="faint">The title of the tab always has the number of waiting questions, and ✓ after a turn that ended while you looked at
				something else. A notification has the kind of the question and the title of the thread, and no command or text.</p>
		</>
	);
}
