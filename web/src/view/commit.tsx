// The dialog that commits changes.

import { useEffect, useState } from "preact/hooks";
import { commit, draftMessage, readRepository, type Repository } from "../store/commit.ts";
import type { ThreadStore } from "../store/thread.ts";
import { plural, visible } from "../lib/format.ts";
import { toggled } from "../lib/toggled.ts";
import { Icon } from "../lib/icons.tsx";
import { Frame } from "./frame.tsx";
import { Load } from "./parts.tsx";
import { useResource } from "./useresource.ts";

/** CommitDialog chooses files, drafts a message, and commits. */
export function CommitDialog({ store }: { store: ThreadStore }) {
	const repository = useResource(() => readRepository(store), [store]);
	const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
	const [message, setMessage] = useState("");
	const [branch, setBranch] = useState("");
	const [apart, setApart] = useState(false);
	const [hooks, setHooks] = useState(false);
	const value = repository.value.value;
	useEffect(() => {
		if (!value) return;
		const own = value.files.filter((f) => f.byAgent);
		setChosen(new Set((own.length > 0 ? own : value.files).map((f) => f.path)));
	}, [value]);
	const ready = value !== null && chosen.size > 0 && message.trim() !== "" && (!apart || branch.trim() !== "");
	const run = async () => {
		const order = { paths: [...chosen], message: message.trim(), branch: apart ? branch.trim() : "", hooks };
		const done = await commit(value!, order);
		const where = done.folder
			? `on the branch ${branch.trim()}, in the worktree ${done.folder}. The files here stay as they are` : `on ${value!.branch || "no branch"}`;
		store.notices.add("done", visible(`Committed ${plural(chosen.size, "file")} as ${done.name} ${where}.`));
	};
	return (
		<Frame title="Commit" action={`Commit ${plural(chosen.size, "file")}`} disabled={!ready} run={run}>
			<Load resource={repository} what="The repository">{(r) => (r.files.length === 0 ? <p class="hint">Nothing has changed since the last commit.</p> : (
				<>
					<Files repository={r} chosen={chosen} toggle={(path) => setChosen(toggled(chosen, path))} />
					<Message store={store} paths={[...chosen]} text={message} set={setMessage} />
					<fieldset>
						<legend>Where</legend>
						<label class="option"><input type="radio" name="apart" checked={!apart} onChange={() => setApart(false)} />
							<span>Here <span class="faint">on {r.branch ? visible(r.branch) : "no branch"}</span></span></label>
						<label class="option"><input type="radio" name="apart" checked={apart} onChange={() => setApart(true)} />
							<span>In a worktree of its own <span class="faint">A new branch from the last commit, checked out in a folder beside this one.
								The files here stay as they are.</span></span></label>
						{apart && <label class="field"><span>Branch</span>
							<input type="text" value={branch} onInput={(e) => setBranch(e.currentTarget.value)} /></label>}
					</fieldset>
					{!apart && <label class="option"><input type="checkbox" checked={hooks} onChange={(e) => setHooks(e.currentTarget.checked)} />
						<span>Run the hooks of the repository <span class="faint">They are programs of the repository, and run with your rights.</span></span></label>}
					<p class="faint">Git runs with your rights, outside of the sandbox. Filters of the repository's configuration run; hooks do not,
						unless you choose them. Nothing is signed or pushed.</p>
				</>
			))}</Load>
		</Frame>
	);
}

interface FilesProps {
	repository: Repository;
	chosen: ReadonlySet<string>;
	toggle(path: string): void;
}

function Files({ repository, chosen, toggle }: FilesProps) {
	return (
		<fieldset>
			<legend>Files</legend>
			<div class="commit-files">
				{repository.files.map((f) => (
					<label class="option" key={f.path}><input type="checkbox" checked={chosen.has(f.path)} onChange={() => toggle(f.path)} />
						<span><code>{visible(f.path)}</code> <span class="faint">{f.state === "??" ? "new" : f.state}{f.byAgent && " · changed by the agent"}</span></span></label>
				))}
			</div>
		</fieldset>
	);
}

interface MessageProps {
	store: ThreadStore;
	paths: readonly string[];
	text: string;
	set(text: string): void;
}

function Message({ store, paths, text, set }: MessageProps) {
	const [drafting, setDrafting] = useState(false);
	const [failure, setFailure] = useState("");
	const draft = () => {
		setDrafting(true);
		setFailure("");
		draftMessage(store, paths).then(set, (error: Error) => setFailure(error.message)).finally(() => setDrafting(false));
	};
	return (
		<>
			<label class="field"><span>Message</span>
				<textarea rows={5} value={text} onInput={(e) => set(e.currentTarget.value)} /></label>
			<div>
				<button type="button" class="small" disabled={drafting || paths.length === 0} onClick={draft}
					title="One request with the context of this thread, in a fork that is not kept"><Icon name="spark" />{drafting ? "The agent writes…" : "Draft by the agent"}</button>
			</div>
			{failure && <p class="error-text" role="alert">{visible(failure)}</p>}
		</>
	);
}
