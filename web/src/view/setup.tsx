// The ways to a model: servers on this machine, keys, an account, and the demo without a network.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { connected } from "../store/app.ts";
import { openDialog } from "../store/dialog.ts";
import { modelFacts, modelStore as store, offline, openai, presets, type Outcome } from "../store/models.ts";
import { CopyButton } from "../lib/copy.tsx";
import { Icon } from "../lib/icons.tsx";
import { duration, plural, visible } from "../lib/format.ts";
import type { Model, ModelProviderSummary } from "../wire/types.ts";

/** Setup offers all ways to a model. */
export function Setup() {
	useEffect(() => void store.find(), []);
	const busy = [...store.outcomes.value.values()].some((o) => o.state === "testing");
	return (
		<div class="setup" aria-busy={busy}>
			<Local />
			<ReadyProviders />
			<Account />
			<TypedKey />
			<section>
				<h3>Without a model</h3>
				<Offer provider={offline} name="Demo" detail="A script answers. It needs no key and no network, and cannot think." model={null} action="Use the demo" />
			</section>
		</div>
	);
}

/** Welcome is the page of a server whose provider cannot be used, and after the choice of one that can. */
export function Welcome({ problem }: { problem: string }) {
	return (
		<div class="welcome scroll">
			<h2>{problem ? "Choose a model" : "The model is ready"}</h2>
			{problem && (
				<details class="faint">
					<summary>New threads use {nameOf(store.defaultProvider.value)}, which cannot be used yet.</summary>
					<p>{visible(problem)}</p>
				</details>
			)}
			<Setup />
		</div>
	);
}

/** Local lists the model servers that answer on this machine. */
function Local() {
	const found = store.found.value;
	const servers = [...new Set((found ?? []).map((m) => m.modelProvider))];
	return (
		<section>
			<h3>On this machine</h3>
			{found === null ? <p class="faint" role="status">Looking for Ollama, LM Studio, llama-server and vLLM…</p>
				: servers.length === 0 && (
					<p class="faint">No model server answers. Start Ollama, LM Studio, llama-server or vLLM, and <button type="button" class="link"
						onClick={() => void store.find()}>look again</button>.</p>
				)}
			{servers.map((id) => <LocalServer key={id} provider={id} models={found!.filter((m) => m.modelProvider === id)} />)}
		</section>
	);
}

function LocalServer({ provider, models }: { provider: string; models: readonly Model[] }) {
	const [chosen, setChosen] = useState("");
	const model = models.find((m) => m.model === chosen) ?? models[0]!;
	const name = nameOf(provider);
	const choice = (
		<select aria-label={`Model of ${name}`} value={model.model} onChange={(e) => setChosen(e.currentTarget.value)}>
			{models.map((m) => <option value={m.model}>{visible(m.displayName)}</option>)}
		</select>
	);
	return <Offer provider={provider} name={name} detail={modelFacts(model) || plural(models.length, "model")}
		model={model.model} choice={choice} />;
}

const nameOf = (provider: string): string =>
	visible(store.providers.value.find((p) => p.id === provider)?.name ?? provider);

/** ReadyProviders lists the providers that have a key. */
function ReadyProviders() {
	const ready = store.providers.value.filter((p) =>
		p.ready && ["environmentVariable", "stored", "configuration"].includes(p.keySource));
	if (ready.length === 0) return null;
	return (
		<section>
			<h3>Available keys</h3>
			{ready.map((p) => <Offer key={p.id} provider={p.id} name={visible(p.name)} detail={keyOf(p)} model={null} choice={
				p.keySource === "stored" && <button type="button" onClick={() => void store.removeKey(p.id)}>Remove the key</button>} />)}
		</section>
	);
}

function keyOf(p: ModelProviderSummary): string {
	if (p.keySource === "stored") return "The key that you typed";
	const variable = p.settings.type === openai ? "OPENAI_API_KEY" : envKeyOf(p);
	return p.keySource === "environmentVariable" ? `The key in ${visible(variable ?? "the environment")}` : "The key of your config.toml";
}

/** envKeyOf returns the variable that the key of a provider is in by its configuration, or null. */
function envKeyOf({ settings }: ModelProviderSummary): string | null {
	return "auth" in settings && settings.auth?.mode === "environmentVariable" ? settings.auth.envKey ?? null : null;
}

/** Account signs the user in and out. */
function Account() {
	const account = store.account.value?.account;
	const login = store.login.value;
	return (
		<section>
			<h3>ChatGPT account</h3>
			{login ? <Login /> : account ? (
				<Offer provider={openai} name={account.type === "chatgpt" ? visible(account.email ?? "Signed in") : "An API key"} detail="You are signed in." model={null}
					choice={<button type="button" onClick={() => void store.signOut()}>Sign out</button>} />
			) : (
				<div class="setup-actions">
					<button type="button" disabled={!connected()} onClick={() => void store.signIn("chatgpt")}>Sign in with ChatGPT</button>
					<button type="button" disabled={!connected()} onClick={() => void store.signIn("chatgptDeviceCode")}>Sign in with a code</button>
					<span class="faint">A code works if the server is on another machine.</span>
				</div>
			)}
			{store.loginFailure.value && <p class="error-text" role="alert">{visible(store.loginFailure.value)}</p>}
		</section>
	);
}

/** Login shows a login that waits for the user. */
function Login() {
	const login = store.login.value!;
	const address = login.authUrl ?? login.verificationUrl ?? "";
	return (
		<div class="login" role="status">
			<p><a href={address} target="_blank" rel="noopener noreferrer">Open the page of OpenAI</a> and sign in there. This page continues by itself.</p>
			{login.userCode && <p>Enter this code there: <code class="code">{visible(login.userCode)}</code><CopyButton text={login.userCode} /></p>}
			{login.userCode && <p class="faint">Never enter a code that somebody else has sent you.</p>}
			<button type="button" onClick={() => void store.cancelLogin()}>Cancel</button>
		</div>
	);
}

/** TypedKey takes a key of a provider. */
function TypedKey() {
	const [id, setId] = useState("openrouter");
	const [address, setAddress] = useState("");
	const [key, setKey] = useState("");
	const known = store.providers.value.filter((p) => !presets.some((q) => q.id === p.id)
		&& envKeyOf(p) !== null).map((p) => ({ id: p.id, name: p.name, baseUrl: "" }));
	const other = { id: "custom", name: "Another provider", baseUrl: address.trim() };
	const chosen = [...presets, ...known].find((p) => p.id === id) ?? other;
	const incomplete = key.trim() === "" || (chosen === other && other.baseUrl === "");
	return (
		<section>
			<h3>Type a key</h3>
			<form class="typed-key" onSubmit={(e) => {
				e.preventDefault();
				if (incomplete) return;
				void store.storeKey(chosen, key.trim());
				setKey("");
			}}>
				<select aria-label="Provider of the key" value={chosen.id} onChange={(e) => setId(e.currentTarget.value)}>
					{[...presets, ...known, other].map((p) => <option value={p.id}>{visible(p.name)}</option>)}
				</select>
				{chosen === other && <input type="url" aria-label="Address of the provider" placeholder="https://host/v1" value={address}
					onInput={(e) => setAddress(e.currentTarget.value)} />}
				<input type="password" aria-label="Key" placeholder="Key" autocomplete="off" spellcheck={false} value={key}
					onInput={(e) => setKey(e.currentTarget.value)} />
				<button type="submit" disabled={incomplete || !connected()}>Save, test and use</button>
			</form>
			<p class="faint">The server keeps the key in a file that only you can read, or in the keyring, and sends it to this provider only.</p>
			{!store.providers.value.some((p) => p.id === chosen.id && p.ready)
				&& <OutcomeText outcome={store.outcomes.value.get(chosen.id)} />}
		</section>
	);
}

interface OfferProps {
	provider: string;
	name: string;
	detail: string;
	model: string | null;
	action?: string;
	choice?: ComponentChildren;
}

/** Offer is a provider with a button that tests and uses it. */
function Offer({ provider, name, detail, model, action = "Test and use", choice }: OfferProps) {
	const outcome = store.outcomes.value.get(provider);
	return (
		<div class="offer">
			<div class="offer-line">
				<span class="offer-name"><strong>{name}</strong><span class="faint">{detail}</span></span>
				{choice}
				<button type="button" class={outcome?.state === "used" ? "" : "primary"}
					disabled={!connected() || outcome?.state === "testing"}
					onClick={() => void store.choose(provider, model)}>{action}</button>
			</div>
			<OutcomeText outcome={outcome} />
		</div>
	);
}

/** OutcomeText shows the result of an attempt. */
function OutcomeText({ outcome }: { outcome: Outcome | undefined }) {
	switch (outcome?.state) {
		case undefined: return null;
		case "testing": return <p class="faint" role="status">Waiting for a short answer…</p>;
		case "failed": return (
			<div role="alert">
				<p class="error-text">{visible(outcome.problem)}</p>
				{outcome.advice && <p>{visible(outcome.advice)}</p>}
			</div>
		);
		case "used": return (
			<div class="offer-used" role="status">
				<Icon name="check" />
				<span>{outcome.answer === "" ? "New threads use it." : `${visible(outcome.model)} answered in ${duration(outcome.durationMs)}. New threads use it.`}</span>
				<button type="button" class="primary" onClick={() => openDialog({ kind: "new" })}><Icon name="plus" />New thread</button>
			</div>
		);
	}
}
