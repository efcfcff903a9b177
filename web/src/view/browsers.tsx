// The browsers that open the page without a ticket.

import { useState } from "preact/hooks";
import { forgetBrowser, readBrowsers, type RememberedBrowser } from "../wire/session.ts";
import { visible } from "../lib/format.ts";
import { Load } from "./parts.tsx";
import { useResource } from "./useresource.ts";

/** Browsers lists the remembered browsers of the home, and forgets them. */
export function Browsers() {
	const [failure, setFailure] = useState("");
	const list = useResource(readBrowsers, []);
	const forget = async (b: RememberedBrowser) => {
		setFailure("");
		await forgetBrowser(b.id).catch((error: Error) => setFailure(error.message));
		if (!b.current) await list.load();
	};
	return (
		<>
			<p class="faint">These browsers open the page without a ticket. The server forgets a browser after 90 days without use.</p>
			{failure && <p class="error-text" role="alert">{visible(failure)}</p>}
			<Load resource={list} what="The list of browsers">{(browsers) => (browsers.length === 0
				? <p class="hint">No browser is remembered. At {location.origin}, this session ends with the server.</p>
				: (
					<table class="facts-table browsers">
						<thead><tr><th scope="col">Browser</th><th scope="col">Page</th><th scope="col">Remembered</th><th scope="col">Last used</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
						<tbody>{browsers.map((b) => (
							<tr key={b.id}>
								<td><strong>{visible(b.name)}</strong>{b.current && <> <span class="badge">this browser</span></>}<div class="faint">{visible(b.id)}</div></td>
								<td>{visible(b.origin.replace("http://", ""))}</td><td>{time(b.created)}</td><td>{time(b.lastUsed)}</td>
								<td><button type="button" class="small" aria-label={`Forget ${visible(b.name)}`} onClick={() => void forget(b)}>Forget</button></td>
							</tr>
						))}</tbody>
					</table>
				))}</Load>
		</>
	);
}

function time(seconds: number): string {
	return new Date(seconds * 1000).toLocaleDateString([], { dateStyle: "medium" });
}
