import { useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

/** CopyButton copies a text to the clipboard and confirms it. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
	const [done, setDone] = useState(false);
	const copy = () => {
		navigator.clipboard.writeText(text).then(() => {
			setDone(true);
			setTimeout(() => setDone(false), 1500);
		}, () => undefined);
	};
	return (
		<button class="quiet" type="button" onClick={copy} aria-label={done ? "Copied" : label} title={label}>
			<Icon name={done ? "check" : "copy"} />
		</button>
	);
}
