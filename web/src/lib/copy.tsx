import { useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

/** CopyButton copies a text to the clipboard and confirms it. A text that is shown in part is read first. */
export function CopyButton({ text, label = "Copy" }: { text: string | (() => Promise<string>); label?: string }) {
	const [done, setDone] = useState(false);
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
			setDone(true);
			setTimeout(() => setDone(false), 1500);
		} catch {
			setDone(false);
		}
	};
	return (
		<button class="quiet" type="button" onClick={() => void copy()} aria-label={done ? "Copied" : label} title={label}>
			<Icon name={done ? "check" : "copy"} />
		</button>
	);
}
