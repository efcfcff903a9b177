// The MCP servers with their states and tools.

import { useEffect, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { useResource } from "./useresource.ts";
import { plural, visible } from "../lib/format.ts";
import type { McpServerStatus } from "../wire/types.ts";
import { Load } from "./parts.tsx";

const states: Record<NonNullable<McpServerStatus["runtimeStatus"]>, string> = {
	notStarted: "not started", starting: "starting", connected: "connected", authenticationRequired: "needs a token",
	failed: "failed", cancelled: "cancelled", disabled: "turned off",
};

/** McpServers lists the MCP servers of the open thread. */
export function McpServers() {
	const store = app.current.value;
	const threadId = store && store.phase.value === "ready" ? store.id : null;
	const [failure, setFailure] = useState("");
	const list = useResource(() => app.connection.value!.call("mcpServerStatus/list", { threadId }), [threadId]);
	useEffect(() => store?.watch((n) => n.method === "mcpServer/startupStatus/updated" && list.soon()), [list]);
	const reload = async () => {
		setFailure("");
		try {
			await app.connection.value!.call("config/mcpServer/reload", {});
		} catch (error) {
			setFailure((error as Error).message);
		}
		await list.load();
	};
	return (
		<>
			<div class="settings-actions">
				<button type="button" disabled={!app.connected()} onClick={() => void reload()}>Read the configuration again</button>
				<span class="faint">{threadId ? "Connections of the open thread." : "Each server is started to read its tools."}</span>
			</div>
			{failure && <p class="error-text" role="alert">{visible(failure)}</p>}
			<Load resource={list} what="The MCP servers">{({ data }) => (data.length === 0
				? <p class="hint">No MCP servers are configured.</p>
				: (
					<table class="facts-table">
						<thead><tr><th scope="col">Server</th><th scope="col">State</th><th scope="col">Tools</th></tr></thead>
						<tbody>{data.map((s) => <Server key={s.name} s={s} />)}</tbody>
					</table>
				))}</Load>
		</>
	);
}

function Server({ s }: { s: McpServerStatus }) {
	const tools = Object.keys(s.tools);
	return (
		<tr>
			<td><strong>{visible(s.name)}</strong>{s.serverInfo && <div class="faint">{visible(s.serverInfo.title ?? s.serverInfo.name)} {visible(s.serverInfo.version)}</div>}
				{s.httpOrigin && <div class="faint">{visible(s.httpOrigin)}</div>}</td>
			<td>{s.runtimeStatus ? <span class={`badge ${s.runtimeStatus === "failed" ? "failed" : ""}`}>{states[s.runtimeStatus]}</span> : s.toolsError ? "failed" : "answers"}
				{s.toolsError && <div class="error-text">{visible(s.toolsError)}</div>}</td>
			<td>{tools.length === 0 ? <span class="faint">none</span> : (
				<details><summary>{plural(tools.length, "tool")}</summary><ul>{tools.map((t) => <li><code>{visible(t)}</code></li>)}</ul></details>
			)}</td>
		</tr>
	);
}
