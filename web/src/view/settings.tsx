// Settings of the server, the configuration in effect, MCP servers and diagnostics.

import { useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { useResource } from "./useresource.ts";
import * as app from "../store/app.ts";
import { readConfig, sourceName } from "../store/config.ts";
import { CopyButton } from "../lib/copy.tsx";
import { flatten } from "../lib/flatten.ts";
import { duration, visible } from "../lib/format.ts";
import { Alerts } from "./alerts.tsx";
import { Browsers } from "./browsers.tsx";
import { Fields } from "./fields.tsx";
import { McpServers } from "./mcp.tsx";
import { Load } from "./parts.tsx";
import { Setup } from "./setup.tsx";
import { inEditor } from "../wire/transport.ts";

const views: readonly [string, ComponentType][] = [
	["Settings", Fields], ["Models", Setup], ["Configuration", Configuration], ["MCP servers", McpServers],
	["Diagnostics", Diagnostics],
	...(inEditor() ? [] : [["Browsers", Browsers], ["Notifications", Alerts]] as [string, ComponentType][]),
];

/** Settings has the views of the settings. It begins with the one of a name, or with the first. */
export function Settings({ first }: { first: string }) {
	const [view, setView] = useState(() => Math.max(views.findIndex(([name]) => name === first), 0));
	const View = views[view]![1];
	const onKeyDown = (e: KeyboardEvent) => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (by === undefined) return;
		e.preventDefault();
		const next = (view + by + views.length) % views.length;
		setView(next);
		document.getElementById(`settings-${next}`)?.focus();
	};
	return (
		<div class="settings">
			<div class="tabs"><div role="tablist" aria-label="Settings" onKeyDown={onKeyDown}>
				{views.map(([name], i) => (
					<button type="button" role="tab" id={`settings-${i}`} aria-selected={i === view} aria-controls="settings-panel" tabIndex={i === view ? 0 : -1}
						onClick={() => setView(i)}>{name}</button>
				))}
			</div></div>
			<div role="tabpanel" id="settings-panel" class="settings-panel scroll" tabIndex={0} aria-labelledby={`settings-${view}`}><View /></div>
		</div>
	);
}

function Configuration() {
	const config = useResource(readConfig, []);
	const [text, setText] = useState("");
	const words = text.toLowerCase().split(/\s+/).filter((w) => w !== "");
	return (
		<Load resource={config} what="The configuration">{(c) => {
			const rows = flatten(c.config).map((r) => ({ ...r, source: sourceName(c.origins[r.key]?.name) }))
				.filter((r) => words.every((w) => `${r.key} ${r.value} ${r.source}`.toLowerCase().includes(w)));
			return (
				<>
					<label class="field"><span>Find a key, a value or a source</span><input type="search" value={text} onInput={(e) => setText(e.currentTarget.value)} /></label>
					{c.layers?.filter((l) => l.disabledReason)
						.map((l) => <p class="error-text">{sourceName(l.name)}: {visible(l.disabledReason!)}</p>)}
					{rows.length === 0 ? <p class="hint">No key matches.</p> : (
						<table class="facts-table">
							<thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Source</th></tr></thead>
							<tbody>{rows.map((r) => <tr><td><code>{visible(r.key)}</code></td><td>{visible(r.value)}</td><td class={r.source === "default" ? "faint" : ""}>{r.source}</td></tr>)}</tbody>
						</table>
					)}
				</>
			);
		}}</Load>
	);
}

function Diagnostics() {
	const state = useResource(() => app.connection.value!.call("server/diagnostics", {}), []);
	return (
		<Load resource={state} what="The state of the server">{(d) => (
			<>
				<div class="settings-actions">
					<button type="button" onClick={() => void state.load()}>Read again</button>
					<CopyButton text={JSON.stringify(d, null, 2)} label="Copy as JSON" />
				</div>
				<table class="facts-table">
					<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
					<tbody>{flatten(d).map((r) => <tr><td><code>{r.key}</code></td><td>{visible(readable(r.key, r.value))}</td></tr>)}</tbody>
				</table>
			</>
		)}</Load>
	);
}

const mebibyte = 1 << 20;

/** readable returns a value of the diagnostics with its unit. */
function readable(key: string, value: string): string {
	const n = Number(value);
	if (!Number.isFinite(n)) return value;
	if (key.endsWith("Bytes")) return `${(n / mebibyte).toFixed(1)} MiB`;
	if (key.endsWith("Ms")) return duration(n);
	return key === "startedAt" ? new Date(n * 1000).toLocaleString() : value;
}
