// The providers and models of the server, and the attempts of the user to use them.

import { computed, signal } from "@preact/signals";
import { short } from "../lib/format.ts";
import { Newest } from "../lib/newest.ts";
import type { Connection } from "../wire/connection.ts";
import type {
	GetAccountResponse, LoginAccountResponse, Methods, Model, ModelProviderProbeResponse, ModelProviderSummary,
	ServerNotification,
} from "../wire/types.ts";

/** Outcome is the result of the last attempt to use a provider. */
export type Outcome =
	| { state: "testing" } | { state: "failed"; problem: string; advice: string }
	| { state: "used"; model: string; answer: string; durationMs: number };

/** offline is the provider that needs no model server. */
export const offline = "offline";
/** openai is the provider that has accounts. */
export const openai = "openai";

/** Preset is a provider that needs only a key. */
export interface Preset {
	id: string;
	name: string;
	/** baseUrl is the address, or empty for a provider that the server knows. */
	baseUrl: string;
}

/** presets are providers of Chat Completions, with the addresses that they document. */
export const presets: readonly Preset[] = [
	{ id: openai, name: "OpenAI", baseUrl: "" },
	{ id: "openrouter", name: "OpenRouter", baseUrl: "" },
	{ id: "anthropic", name: "Anthropic", baseUrl: "https://api.anthropic.com/v1" },
	{ id: "gemini", name: "Google Gemini", baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai" },
	{ id: "mistral", name: "Mistral", baseUrl: "https://api.mistral.ai/v1" },
	{ id: "deepseek", name: "DeepSeek", baseUrl: "https://api.deepseek.com" },
	{ id: "groq", name: "Groq", baseUrl: "https://api.groq.com/openai/v1" },
	{ id: "moonshot", name: "Moonshot", baseUrl: "https://api.moonshot.ai/v1" },
];

/** ModelStore has the providers and models of the server. */
export class ModelStore {
	/** models are those of the provider of new threads. */
	readonly models = signal<readonly Model[]>([]);
	readonly providers = signal<readonly ModelProviderSummary[]>([]);
	readonly defaultProvider = signal("");
	readonly account = signal<GetAccountResponse | null>(null);
	/** found are models of servers on this machine, or null until they were looked for. */
	readonly found = computed<readonly Model[] | null>(() => {
		const local = new Set(this.providers.value.filter((p) => p.id !== openai && isLoopback(p.baseUrl)).map((p) => p.id));
		return this.listed.value?.filter((m) => m.available === true && !m.hidden && local.has(m.modelProvider)) ?? null;
	});
	/** outcomes are the last attempts to use providers, by their ids. */
	readonly outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());
	/** login is a login that waits for the user, or null. */
	readonly login = signal<LoginAccountResponse | null>(null);
	readonly loginFailure = signal("");
	/** problem is the reason why new threads have no model, or empty. It is null until that is known. */
	readonly problem = computed<string | null>(() => {
		const own = this.providers.value.find((p) => p.id === this.defaultProvider.value);
		if (this.defaultProvider.value === "") return null;
		return own?.ready ? "" : own?.problem ?? "The provider of new threads is not configured.";
	});
	/** listed are the models of the last search on this machine, or null. It can end before the providers are known. */
	private readonly listed = signal<readonly Model[] | null>(null);
	private readonly reads = new Newest();
	private c: Connection | null = null;

	/** opened reads everything from a connection. */
	opened(c: Connection): Promise<void> {
		this.c = c;
		return this.load();
	}

	private call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
		return this.c!.call(method, params);
	}

	/** load reads the providers, the account and the models of new threads. What cannot be read stays as it was. */
	load(): Promise<void> {
		return this.reads.run(async (isNewest) => {
			const [providers, account, models] = await Promise.all([
				this.call("modelProvider/list", {}).catch(() => null), this.call("account/read", {}).catch(() => null),
				this.call("model/list", {}).catch(() => null),
			]);
			if (!isNewest()) return;
			if (account) this.account.value = account;
			if (models) this.models.value = models.data;
			if (!providers) return;
			this.providers.value = providers.data;
			this.defaultProvider.value = providers.defaultProviderId ?? "";
		});
	}

	/** find looks for model servers on this machine. */
	async find(): Promise<void> {
		this.listed.value = null;
		const list = await this.call("model/list", { findLocal: true }).catch(() => ({ data: [] as Model[] }));
		this.listed.value = list.data;
	}

	/** choose tests a model of a provider, and uses it for new threads if it answers. Null is a model that fits. */
	choose(provider: string, model: string | null): Promise<void> {
		return this.attempt(provider, async () => {
			if (provider === offline) return this.write(provider, null, null);
			const probe = await this.call("model/provider/probe", { modelProvider: provider, model, test: true });
			if (probe.problem) return { state: "failed", problem: probe.problem.message, advice: probe.problem.advice ?? "" };
			return this.write(provider, probe.test?.model ?? model, probe);
		});
	}

	/** storeKey stores the key of a provider, with its address if it has none, and uses the provider. */
	async storeKey(preset: Preset, key: string): Promise<void> {
		await this.attempt(preset.id, async () => {
			if (preset.id === openai) await this.call("account/login/start", { type: "apiKey", apiKey: key });
			else {
				await this.define(preset);
				await this.call("modelProvider/key/write", { modelProvider: preset.id, apiKey: key });
			}
			await this.load();
			return { state: "testing" };
		});
		if (this.outcomes.value.get(preset.id)?.state === "testing") await this.choose(preset.id, null);
	}

	/** define writes the address of a provider, unless the server knows it. */
	private async define({ id, name, baseUrl }: Preset): Promise<void> {
		if (baseUrl === "" || this.providers.value.find((p) => p.id === id)?.baseUrl === baseUrl) return;
		const keyPath = `model_providers.${JSON.stringify(id)}`;
		await this.call("config/value/write", {
			keyPath, value: { name, base_url: baseUrl, wire_api: "chat" }, mergeStrategy: "upsert",
		});
	}

	/** write uses a model for new threads from now on. */
	private async write(
		provider: string, model: string | null, probe: ModelProviderProbeResponse | null,
	): Promise<Outcome> {
		const done = await this.call("config/batchWrite", { edits: [
			{ keyPath: "model_provider", value: provider, mergeStrategy: "replace" },
			{ keyPath: "model", value: model, mergeStrategy: "replace" },
		] });
		await this.load();
		if (done.status !== "ok") {
			const reason = done.overriddenMetadata?.message ?? "another source overrides it";
			return { state: "failed", problem: `The choice was saved, but has no effect: ${reason}.`, advice: "" };
		}
		const { text, durationMs } = probe?.test ?? { text: "", durationMs: 0 };
		return { state: "used", model: model ?? "", answer: text ?? "", durationMs };
	}

	private async attempt(provider: string, run: () => Promise<Outcome>): Promise<void> {
		this.set(provider, { state: "testing" });
		this.set(provider, await run().catch((e: Error): Outcome => ({ state: "failed", problem: e.message, advice: "" })));
	}

	private set(provider: string, outcome: Outcome): void {
		// One provider is used at a time.
		const others = [...this.outcomes.value].filter(([id, o]) => id !== provider && o.state === "failed");
		this.outcomes.value = new Map([...others, [provider, outcome]]);
	}

	/** signIn begins a login with a browser on the server's machine, or with a code on any machine. */
	async signIn(type: "chatgpt" | "chatgptDeviceCode"): Promise<void> {
		this.loginFailure.value = "";
		try {
			this.login.value = await this.call("account/login/start", { type });
		} catch (error) {
			this.loginFailure.value = (error as Error).message;
		}
	}

	/** cancelLogin ends a login that waits. */
	async cancelLogin(): Promise<void> {
		const loginId = this.login.value?.loginId;
		this.login.value = null;
		if (loginId) await this.call("account/login/cancel", { loginId }).catch(() => undefined);
	}

	/** signOut removes the login. */
	async signOut(): Promise<void> {
		await this.call("account/logout", {}).catch((e: Error) => (this.loginFailure.value = e.message));
	}

	/** removeKey removes the stored key of a provider. */
	async removeKey(provider: string): Promise<void> {
		await this.call("modelProvider/key/delete", { modelProvider: provider }).catch((e: Error) =>
			this.set(provider, { state: "failed", problem: e.message, advice: "" }));
	}

	/** notified follows logins, and changes of providers. */
	notified(n: ServerNotification): void {
		if (n.method === "account/login/completed" && n.params.loginId === this.login.value?.loginId) {
			this.login.value = null;
			this.loginFailure.value = n.params.error ?? "";
			if (n.params.success) void this.choose(openai, null);
		}
		if (n.method === "account/updated" || n.method === "modelProvider/changed") void this.load();
	}
}

/** modelStore has the providers and models of the page's server. */
export const modelStore = new ModelStore();

function isLoopback(address: string | null): boolean {
	return address !== null && /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(address);
}

/** modelFacts says what is known about a model: its window, its prices, and what it can do. */
export function modelFacts(m: Model): string {
	const { input, output, currency } = m.prices ?? { input: null, output: null, currency: null };
	const price = (n: number) => `${currency === "USD" ? "$" : ""}${n}`;
	return [
		m.contextWindow ? `${short(m.contextWindow)} tokens` : "",
		input !== null && output !== null ? `${price(input)} in, ${price(output)} out per million` : "",
		m.abilities.tools?.supported === false ? "calls no tools" : "",
		m.abilities.images?.supported ? "reads images" : "",
	].filter(Boolean).join(" · ");
}
