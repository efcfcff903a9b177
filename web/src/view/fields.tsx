// The values of the configuration that people change, written to their file.

import { useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { readConfig, sourceName } from "../store/config.ts";
import type { Resource } from "../store/resource.ts";
import { useResource } from "./useresource.ts";
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

/** Fields edits values of the configuration. */
export function Fields() {
	const config = useResource(readConfig, []);
	return (
		<Load resource={config} what="The configuration">{(c) => (
			<>
				<p class="faint">Values are written to your configuration file. They apply to threads that start or are opened from then on.</p>
				{fields.map(([key, label, kind, help]) =>
					<Field key={key} name={key} label={label} kind={kind} help={help} c={c} config={config} />)}
			</>
		)}</Load>
	);
}

/**
 * recover returns why a value was not written. If the file was changed in the meantime, it makes the server read the
 * file again, because config/read returns what the server read last.
 */
async function recover(error: Error): Promise<string> {
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
	const [draft, setDraft] = useState<string | null>(null);
	const [outcome, setOutcome] = useState<Outcome | null>(null);
	const source = c.origins[name]?.name;
	const write = async (value: unknown) => {
		setOutcome(null);
		const done = await writeValue(c, name, value);
		setOutcome(done);
		if (done.written) setDraft(null);
		await config.load();
	};
	const reset = () => {
		setDraft(null);
		void write(null);
	};
	const id = `set-${name}`;
	const failed = outcome?.failed ?? false;
	return (
		<div class="setting">
			<label for={id}>{label}</label>
			<div class="setting-value">
				<Control id={id} kind={kind} current={at(c.config, name)} draft={draft} failed={failed} setDraft={setDraft}
					write={write} />
				{source?.type === "user" &&
					<button type="button" class="small" disabled={!app.connected()} onClick={reset}>Use the default</button>}
			</div>
			<p id={`${id}-help`} class="faint setting-help">{help} · <span class="setting-source">{sourceName(source)}</span></p>
			{outcome && <p class={failed ? "error-text" : "good-text"} role={failed ? "alert" : "status"}>{outcome.text}</p>}
		</div>
	);
}

/** writeValue writes a value, and says what became of it. */
async function writeValue(c: ConfigReadResponse, keyPath: string, value: unknown): Promise<Outcome
	& { written: boolean }> {
	const expectedVersion = c.layers?.find((l) => l.name.type === "user")?.version ?? null;
	try {
		const params = { keyPath, value, mergeStrategy: "replace" as const, expectedVersion };
		const done = await app.connection.value!.call("config/value/write", params);
		if (done.status === "ok") return { text: "Saved.", failed: false, written: true };
		const reason = visible(done.overriddenMetadata?.message ?? "another source overrides it");
		return { text: `Saved, without effect: ${reason}.`, failed: true, written: true };
	} catch (error) {
		return { text: await recover(error as Error), failed: true, written: false };
	}
}

interface ControlProps {
	id: string;
	kind: Kind;
	current: unknown;
	draft: string | null;
	failed: boolean;
	setDraft(text: string): void;
	write(value: unknown): Promise<void>;
}

/** Control edits a value. Texts and numbers are written with a button or the key Enter, others at once. */
function Control({ id, kind, current, draft, failed, setDraft, write }: ControlProps) {
	const shown = draft ?? (current === null || typeof current === "object" ? "" : String(current));
	const save = () => void write(kind === "number" ? Number(shown) : shown.trim());
	const common = { id, disabled: !app.connected(), "aria-invalid": failed, "aria-describedby": `${id}-help` };
	if (kind === "boolean") {
		return <input type="checkbox" {...common} checked={current === true}
			onChange={(e) => void write(e.currentTarget.checked)} />;
	}
	if (kind !== "text" && kind !== "number") {
		return (
			<select {...common} value={shown} onChange={(e) => void write(e.currentTarget.value || null)}>
				<option value="">default</option>
				{shown !== "" && !kind.includes(shown) && <option value={shown}>{visible(shown)}</option>}
				{kind.map((o) => <option value={o}>{o}</option>)}
			</select>
		);
	}
	const typed = {
		value: shown, spellcheck: false,
		onInput: (e: { currentTarget: { value: string } }) => setDraft(e.currentTarget.value),
		onKeyDown: (e: KeyboardEvent) => {
			if (e.key !== "Enter") return;
			e.preventDefault();
			if (draft !== null) save();
		},
	};
	const unsavable = !app.connected() || shown.trim() === "";
	return (
		<>
			{kind === "text" ? <input type="text" {...common} {...typed} /> : <input type="number" {...common} {...typed} />}
			{draft !== null && <button type="button" class="small" disabled={unsavable} onClick={save}>Save</button>}
		</>
	);
}
