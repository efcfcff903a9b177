// The dialog that starts a thread: its folder, whether the user trusts it, and what the agent may do.

import { useEffect, useMemo, useState } from "preact/hooks";
import * as app from "../store/app.ts";
import { FolderChoice, parentOf, recentFolders, type Trust } from "../store/folder.ts";
import { Icon } from "../lib/icons.tsx";
import { baseName, relative, visible } from "../lib/format.ts";
import type { SandboxMode } from "../wire/types.ts";
import { editor } from "../wire/editor.ts";
import { Frame } from "./frame.tsx";
import { policies } from "./options.tsx";

const sandboxes: readonly [SandboxMode, string][] = [
	["read-only", "read files only"], ["workspace-write", "change files in the folder, without network"],
	["danger-full-access", "everything, without a sandbox"],
];

/** NewThread asks for the folder of a thread, and starts it. */
export function NewThread() {
	const choice = useMemo(() => new FolderChoice(
		app.current.value?.settings.thread.value?.cwd ?? (editor.folder || recentFolders()[0] || "")), []);
	return (
		<Frame title="New thread" action="Start" disabled={choice.undecided.value} run={() => choice.start()}>
			<Folder choice={choice} />
			<Recent choice={choice} />
			<TrustQuestion choice={choice} />
			<details class="permissions">
				<summary>What the agent may do</summary>
				<Permissions choice={choice} />
			</details>
		</Frame>
	);
}

/** Folder is the field of the folder, with its completions. */
function Folder({ choice }: { choice: FolderChoice }) {
	const path = choice.path.value;
	const facts = choice.facts.value;
	const [open, setOpen] = useState(false);
	const [at, setAt] = useState(-1);
	const list = open ? facts?.completions.filter((c) => c !== facts.path || path.endsWith("/")) ?? [] : [];
	useEffect(() => setAt(-1), [path]);
	const enter = (folder: string) => {
		const separator = folder.includes("\\") ? "\\" : "/";
		choice.choose(folder.endsWith(separator) ? folder : folder + separator);
		setOpen(true);
	};
	const onKeyDown = (e: KeyboardEvent) => {
		if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			setOpen(true);
			setAt((at + (e.key === "ArrowDown" ? 1 : -1) + list.length) % Math.max(1, list.length));
		} else if ((e.key === "Tab" && open || e.key === "Enter") && list[at < 0 && e.key === "Tab" ? 0 : at]) {
			enter(list[Math.max(0, at)]!);
		} else if (e.key === "Escape" && list.length > 0) {
			setOpen(false);
		} else return;
		e.preventDefault();
		e.stopPropagation();
	};
	return (
		<div class="field folder">
			<label for="folder">Folder</label>
			<span class="folder-line">
				<input id="folder" type="text" value={path} placeholder="the server's folder" spellcheck={false} autocomplete="off" role="combobox"
					aria-expanded={list.length > 0} aria-controls="folders" aria-activedescendant={at < 0 ? undefined : `folder-${at}`}
					aria-invalid={facts?.problem != null} aria-describedby="folder-facts"
					onInput={(e) => {
						choice.type(e.currentTarget.value);
						setOpen(true);
					}} onKeyDown={onKeyDown} onBlur={() => setOpen(false)} />
				<button type="button" disabled={!facts} onPointerDown={(e) => e.preventDefault()} onClick={() => enter(facts!.path)}>Browse</button>
				<button type="button" disabled={!facts} aria-label="Folder above" title="Folder above"
					onPointerDown={(e) => e.preventDefault()} onClick={() => enter(parentOf(facts!.path))}><Icon name="up" /></button>
			</span>
			{list.length > 0 && (
				<div class="folders" id="folders" role="listbox" aria-label="Folders">
					{list.map((f, i) => (
						<div role="option" id={`folder-${i}`} aria-selected={i === at} class="suggestion" title={visible(f)}
							onPointerDown={(e) => e.preventDefault()} onClick={() => enter(f)}><code>{visible(baseName(f))}</code></div>
					))}
				</div>
			)}
			<p id="folder-facts" class={facts?.problem ? "error-text" : "faint"} role="status">
				{facts?.problem ? visible(facts.problem) : facts ? describe(facts.path, facts.repository) : "…"}
			</p>
		</div>
	);
}

const describe = (path: string, repository: string | null): string =>
	visible(repository === null ? `${path} is in no git repository.`
		: repository === path ? `${path} is a git repository.` : `${path} is in the git repository ${repository}.`);

/** Recent has the folders of former threads. */
function Recent({ choice }: { choice: FolderChoice }) {
	const folders = recentFolders();
	if (folders.length === 0) return null;
	return (
		<div class="recent" role="group" aria-label="Recent folders">
			{folders.map((f) => (
				<button type="button" class="small" title={visible(f)} aria-pressed={choice.facts.value?.path === f}
					onClick={() => choice.choose(f)}>{visible(baseName(f))}</button>
			))}
		</div>
	);
}

/** TrustQuestion asks whether the user trusts the folder, and says what that means. */
function TrustQuestion({ choice }: { choice: FolderChoice }) {
	const facts = choice.facts.value;
	if (!facts || facts.problem !== null) return null;
	const folder = visible(facts.trustFolder!);
	const settings = facts.projectFolders.map((f) => visible(relative(f, facts.trustFolder!))).join(", ");
	const options: readonly [Trust, string, string][] = [
		["trusted", "I trust it", `The agent changes files in the folder, and runs commands in a sandbox.${settings
			&& ` The settings in ${settings} apply: they can start programs.`}`],
		["untrusted", "I do not trust it", `The agent asks before each command that may do more than read.${settings
			&& ` The settings in ${settings} are ignored.`}`],
	];
	return (
		<fieldset class="trust">
			<legend>Do you trust {folder}?</legend>
			{options.map(([value, label, meaning]) => (
				<label>
					<input type="radio" name="trust" value={value} checked={choice.trust.value === value}
						onChange={() => choice.decide(value)} />
					<span><strong>{label}</strong><span class="faint">{meaning}</span></span>
				</label>
			))}
			<p class="faint">Texts of a folder, such as AGENTS.md and source files, can mislead a model, whatever you choose.</p>
		</fieldset>
	);
}

/** Permissions chooses the sandbox and the approval policy. */
function Permissions({ choice }: { choice: FolderChoice }) {
	return (
		<>
			<label class="field"><span>Commands of the agent may</span>
				<select value={choice.sandbox.value}
					onChange={(e) => (choice.sandbox.value = e.currentTarget.value as SandboxMode)}>
					<option value="">what your settings say</option>
					{sandboxes.map(([mode, name]) => <option value={mode}>{name}</option>)}
				</select>
			</label>
			<label class="field"><span>The agent asks you</span>
				<select value={choice.policy.value}
					onChange={(e) => (choice.policy.value = e.currentTarget.value as typeof choice.policy.value)}>
					<option value="">as your settings say</option>
					{policies.map(([policy, name]) => <option value={policy}>{name}</option>)}
				</select>
			</label>
		</>
	);
}
