// The values of the configuration that people change, written to their file.

import { useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { readConfig, sourceName } from "../store/config.ts";
import { connected, useResource, type Resource } from "../store/resource.ts";
import { at } from "../lib/flatten.ts";
import { visible } from "../lib/format.ts";
import { CallError } from "../wire/connection.ts";
import type { ConfigReadResponse } from "../wire/types.ts";
import { Load } from "./parts.tsx";

type Kind = "text" | "number" | "boolean" | readonly string[];

const fields: readonly [key: string, label: string, kind: Kind, help: string][] = [
	["model", "Model", "text", "of new threads"],
	["model_reasoning_effort", "Reasoning effort", ["minimal", "low", "medium", "high", "xhigh"], "if the model has it"],
	["approval_policy", "Approval policy", ["untrusted", "on-request", "never"], "when the agent asks before it runs a command"],
	["sandbox_mode", "Sandbox", ["read-only", "workspace-write", "danger-full-access"], "what commands may access"],
	["compaction.limit_percent", "Compact at (percent)", "number", "of the context window"],
	["compaction.target_percent", "Compact to (percent)", "number", "of the context window"],
	["checkpoints.enabled", "Checkpoints", "boolean", "capture files before each turn"],
	["memory.summarize_on_prune", "Keep summaries", "boolean", "of what leaves the context"],
	["memory.inject", "Remind the model", "boolean", "of summaries that match a message"],
];

/** Outcome is shown at a field after a write. */
interface Outcome {
	text: string;
	failed: boolean;
}

export function Fields() {
	const config = useResource(readConfig, []);
	return (
		<Load resource={config} what="The configuration">{(c) => (
			<>
				<p class="faint">Values are written to your configuration file. They apply to threads that start or are opened from then on.</p>
				{fields.map(([key, label, kind, help]) => <Field key={key} name={key} label={label} kind={kind} help={help} c={c} config={config} />)}
			</>
		)}</Load>
	);
}

/**
 * explain returns why a value was not written. If the file was changed in the meantime, the server reads it
 * again first: config/read has what the server read last.
 */
async function explain(error: Error): Promise<string> {
	if (!(error instanceof CallError) || error.kind !== "configVersionConflict") return visible(error.message);
	const failed = await app.connection.value!.call("config/mcpServer/reload", {}).then(() => null, (e: Error) => e);
	return failed ? visible(failed.message) : "The file was changed in the meantime, and was read again. Save once more.";
}

interface FieldProps {
	name: string;
	label: string;
	kind: Kind;
	help: string;
	c: ConfigReadResponse;
	config: Resource<ConfigReadResponse>;
}

function Field({ name, label, kind, help, c, config }: FieldProps) {
	const current = at(c.config, name);
	const [draft, setDraft] = useState<string | null>(null);
	const [outcome, setOutcome] = useState<Outcome | null>(null);
	const source = c.origins[name]?.name;
	const shown = draft ?? (current === null || typeof current === "object" ? "" : String(current));
	const write = async (value: unknown) => {
		setOutcome(null);
		const expectedVersion = c.layers?.find((l) => l.name.type === "user")?.version ?? null;
		try {
			const done = await app.connection.value!.call("config/value/write", { keyPath: name, value, mergeStrategy: "replace", expectedVersion });
			setOutcome(done.status === "ok" ? { text: "Saved.", failed: false }
				: { text: `Saved, without effect: ${visible(done.overriddenMetadata?.message ?? "another source overrides it")}.`, failed: true });
			setDraft(null);
		} catch (error) {
			setOutcome({ text: await explain(error as Error), failed: true });
		}
		await config.load();
	};
	const save = () => void write(kind === "number" ? Number(shown) : shown.trim());
	const id = `set-${name}`;
	const common = { id, disabled: !connected(), "aria-invalid": outcome?.failed ?? false, "aria-describedby": `${id}-help` };
	const typed = {
		value: shown, spellcheck: false,
		onInput: (e: { currentTarget: { value: string } }) => setDraft(e.currentTarget.value),
		onKeyDown: (e: KeyboardEvent) => {
			if (e.key !== "Enter") return;
			e.preventDefault();
			if (draft !== null) save();
		},
	};
	return (
		<div class="setting">
			<label for={id}>{label}</label>
			<div class="setting-value">
				{kind === "boolean" ? (
					<input type="checkbox" {...common} checked={current === true} onChange={(e) => void write(e.currentTarget.checked)} />
				) : kind === "text" || kind === "number" ? (
					<>
						{kind === "text" ? <input type="text" {...common} {...typed} /> : <input type="number" {...common} {...typed} />}
						{draft !== null && <button type="button" class="small" disabled={!connected() || shown.trim() === ""} onClick={save}>Save</button>}
					</>
				) : (
					<select {...common} value={shown} onChange={(e) => void write(e.currentTarget.value || null)}>
						<option value="">default</option>
						{shown !== "" && !kind.includes(shown) && <option value={shown}>{visible(shown)}</option>}
						{kind.map((o) => <option value={o}>{o}</option>)}
					</select>
				)}
				{source?.type === "user" && <button type="button" class="small" disabled={!connected()} onClick={() => {
					setDraft(null);
					void write(null);
				}}>Use the default</button>}
			</div>
			<p id={`${id}-help`} class="faint setting-help">{help} · <span class="setting-source">{sourceName(source)}</span></p>
			{outcome && <p class={outcome.failed ? "error-text" : "good-text"} role={outcome.failed ? "alert" : "status"}>{outcome.text}</p>}
		</div>
	);
}
