// The frame of the page: top bar, threads, timeline, panel.

import { useEffect, useState } from "preact/hooks";
import { startAlerts } from "../store/alerts.ts";
import { childrenOf } from "../store/agents.ts";
import * as app from "../store/app.ts";
import { Icon } from "../lib/icons.tsx";
import { baseName, firstLine, plural, visible } from "../lib/format.ts";
import { modelStore } from "../store/models.ts";
import type { TurnName } from "../store/reverts.ts";
import type { ThreadStore } from "../store/thread.ts";
import { ActivityLine, PlanCard, RetryBanner } from "./activity.tsx";
import { Composer } from "./composer.tsx";
import { openDialog } from "../store/dialog.ts";
import { Dialogs } from "./dialogs.tsx";
import { lazy } from "../lib/lazy.tsx";
import { questions } from "../store/questions.ts";
import { Ring } from "./gauge.tsx";
import { Inbox } from "./inbox.tsx";
import { NoSession } from "./nosession.tsx";
import { onGlobalKey } from "./keys.ts";
import { Welcome } from "./opensetup.tsx";
import { policyName } from "./options.tsx";
import { openBrowsers, openSettings } from "./opensettings.tsx";
import { Panel } from "./panel.tsx";
import { columnWidths, panelOpen, panelWanted, panelWide, threadsOpen, togglePanel } from "../store/panels.ts";
import { Threads } from "./threads.tsx";
import { titleOf } from "../store/titles.ts";
import { ThreadTimeline } from "./timeline.tsx";
import { LimitWarning } from "./limitwarning.tsx";
import { TurnSummary } from "./turnsummary.tsx";

const TeamRow = lazy(() => import("./team.tsx").then((m) => m.TeamRow));
const Dock = lazy(() => import("./dock.tsx").then((m) => m.Dock));

/** App is the page. */
export function App() {
	useEffect(() => {
		document.addEventListener("keydown", onGlobalKey);
		const narrow = matchMedia("(max-width: 1100px)");
		const veryNarrow = matchMedia("(max-width: 760px)");
		const fit = () => {
			panelOpen.value = !narrow.matches && panelWanted();
			threadsOpen.value = !veryNarrow.matches;
		};
		fit();
		narrow.addEventListener("change", fit);
		veryNarrow.addEventListener("change", fit);
	}, []);
	useEffect(startAlerts, []);
	const shown = app.current.value?.id;
	useEffect(() => {
		if (shown && matchMedia("(max-width: 760px)").matches) threadsOpen.value = false; // the list covers the thread
	}, [shown]);
	if (app.sessionFailure.value) return <NoSession reason={app.sessionFailure.value} />;
	const store = app.current.value;
	const panel = panelOpen.value && store && store.phase.value !== "failed";
	const parts = ["frame", panel ? "with-panel" : "", panel && panelWide.value ? "wide-panel" : "", threadsOpen.value
		? "with-threads" : ""];
	return (
		<div class={parts.filter(Boolean).join(" ")} style={widths()}>
			<TopBar />
			{threadsOpen.value && <Threads />}
			<main aria-label="Conversation">
				<ConnectionBanner />
				<FailureBanner />
				<RememberedBanner />
				{store ? <Conversation /> : <Start />}
			</main>
			{panel && <Panel store={store} key={store.id} />}
			<Dialogs />
			<div class="visually-hidden" role="status" aria-live="polite">{app.announcement.value}</div>
		</div>
	);
}

/** widths returns the widths that the user chose, as properties for the style sheet. */
function widths(): Record<string, string> {
	const [list, panel] = [columnWidths.threads.value, columnWidths.panel.value];
	return {
		...(list ? { "--threads-width": `${list}px` } : {}),
		...(panel && !panelWide.value ? { "--panel-width": `${panel}px` } : {}),
	};
}

function Conversation() {
	const store = app.current.value!;
	return (
		<>
			{(store.settings.thread.value?.parentThreadId || childrenOf(store.id).length > 0) &&
				<TeamRow store={store} key={`t${store.id}`} />}
			<ThreadTimeline store={store} key={store.id} />
			<Notices />
			<PlanCard store={store} />
			{questions.value.length > 0 && <Dock store={store} />}
			<LimitWarning store={store} key={`l${store.id}`} />
			<div class="turn-line">
				<ActivityLine store={store} />
				<TurnSummary store={store} key={`s${store.id}`} />
			</div>
			{store.phase.value !== "failed" && <Composer store={store} key={`c${store.id}`} />}
		</>
	);
}

function TopBar() {
	const store = app.current.value;
	const thread = store?.settings.thread.value;
	const settings = store?.settings.resumed.value;
	return (
		<header class="top">
			<button class="quiet" type="button" aria-label="Threads" aria-pressed={threadsOpen.value} title="Threads"
				onClick={() => (threadsOpen.value = !threadsOpen.value)}><Icon name="list" /></button>
			<h1 class="top-title">{thread ? titleOf(thread) : "Workbench"}</h1>
			{thread && (
				<span class="facts">
					<span class="fact" title={thread.cwd}>{baseName(thread.cwd)}</span>
					{thread.gitInfo?.branch && <span class="fact"><Icon name="fork" />{thread.gitInfo.branch}</span>}
					{settings && <span class="fact" title="Model">{settings.model}</span>}
				</span>
			)}
			{settings && (
				<span class="permissions-facts">
					<span class="fact" title="Approval policy">{policyName(settings.approvalPolicy)}</span>
					<span class="fact" title="Sandbox">{sandboxName(settings.sandbox.type)}</span>
				</span>
			)}
			<span class="spacer" />
			<Inbox />
			{store && <Ring store={store} onClick={togglePanel} />}
			<Status />
			{store && (
				<button class="quiet" type="button" aria-label="Panel" aria-pressed={panelOpen.value} title="Panel"
					onClick={togglePanel}><Icon name="panel" /></button>
			)}
			<button class="quiet" type="button" aria-label="Settings" title="Settings" onClick={openSettings}><Icon name="settings" /></button>
			<button class="quiet" type="button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)"
				onClick={() => openDialog({ kind: "keys" })}>?</button>
		</header>
	);
}

function sandboxName(type: string): string {
	return { readOnly: "read only", workspaceWrite: "workspace", dangerFullAccess: "full access", externalSandbox: "external" }[type] ?? type;
}

function Status() {
	const state = app.connection.value?.state.value ?? "connecting";
	const text = { open: "connected", connecting: "connecting", waiting: "disconnected", rejected: "rejected" }[state];
	return <span class={`status status-${state}`} title={`Server: ${text}`}><i aria-hidden="true" /><span>{text}</span></span>;
}

function ConnectionBanner() {
	const c = app.connection.value;
	if (!c || c.state.value !== "waiting") return null;
	return (
		<div class="banner warning" role="alert">
			<Icon name="warning" />
			<span>The connection to the server is lost. The page is read-only and connects again by itself.
				If the server has ended, run <code>appserver web</code> in a terminal.</span>
			<button type="button" onClick={() => c.retry()}>Connect now</button>
		</div>
	);
}

function FailureBanner() {
	if (!app.failure.value) return null;
	return (
		<div class="banner error" role="alert">
			<Icon name="warning" /><span>{app.failure.value}</span>
			<button class="quiet" type="button" aria-label="Close" onClick={() => (app.failure.value = "")}><Icon name="x" /></button>
		</div>
	);
}

/** RememberedBanner says once that the browser needs no ticket from now on. */
function RememberedBanner() {
	if (!app.rememberedNow.value) return null;
	return (
		<div class="banner done remembered" role="status">
			<Icon name="check" />
			<span>This browser is remembered: it opens this page without a ticket, also after the server was started again.</span>
			<button type="button" class="small" onClick={openBrowsers}>Remembered browsers</button>
			<button class="quiet" type="button" aria-label="Close" onClick={() => (app.rememberedNow.value = false)}><Icon name="x" /></button>
		</div>
	);
}

function Notices() {
	const store = app.current.value!;
	return (
		<div class="notices">
			<RetryBanner store={store} />
			<UndoOfRevert store={store} />
			{store.notices.list.value.map((n) => (
				<div key={n.id} class={`banner ${n.kind}`} role={n.kind === "error" ? "alert" : "status"}>
					<Icon name={n.kind === "done" ? "check" : "warning"} /><span>{n.text}</span>
					<button class="quiet" type="button" aria-label="Close" onClick={() => store.notices.close(n.id)}><Icon name="x" /></button>
				</div>
			))}
		</div>
	);
}

/** UndoOfRevert names the turns that left the conversation, and brings them back. */
function UndoOfRevert({ store }: { store: ThreadStore }) {
	const removal = store.reverts.removals.value.at(-1);
	if (!removal) return null;
	const quoted = (n: TurnName) => `“${firstLine(visible(n.name), 40)}”`;
	return (
		<div class="banner done undo-revert" role="status">
			<Icon name="check" />
			<span>Removed {plural(removal.ids.length, "turn")}: {removal.ids.length === 1 ? quoted(removal.first)
				: `from ${quoted(removal.first)} to ${quoted(removal.last)}`}. Undo works until the next message.</span>
			<button type="button" class="small" disabled={store.reverts.undoing.value} onClick={() => void store.reverts.undo()}>
				<Icon name="undo" />Undo</button>
			<button class="quiet" type="button" aria-label="Close" onClick={() => store.reverts.close()}><Icon name="x" /></button>
		</div>
	);
}

/** Start is the page without a thread: the ways to a model, until a thread is opened, or the way to a thread. */
function Start() {
	const problem = modelStore.problem.value;
	const [setup, setSetup] = useState(false);
	useEffect(() => {
		if (problem) setSetup(true);
	}, [problem]);
	if (setup) return <Welcome problem={problem ?? ""} />;
	if (problem !== "") return null;
	return (
		<div class="empty">
			<h2>No thread is open</h2>
			<p>Choose a thread from the list, or start one.</p>
			{!threadsOpen.value && <button type="button" onClick={() => (threadsOpen.value = true)}><Icon name="list" />Show threads</button>}
			<button class="primary" type="button" onClick={() => openDialog({ kind: "new" })}><Icon name="plus" />New thread</button>
		</div>
	);
}
