// What the user chose for the next turn.

import { signal } from "@preact/signals";
import type { AskForApproval } from "../wire/types.ts";
import type { Overrides, ThreadSettings } from "./settings.ts";

/** TurnChoice has the settings that the user chose for the next turn. Empty members leave those of the thread. */
export class TurnChoice {
	readonly model = signal("");
	readonly effort = signal("");
	readonly policy = signal("");
	/** plan is null until the user chooses: the settings of the thread may come later than the composer. */
	private readonly plan = signal<boolean | null>(null);

	constructor(private readonly settings: Pick<ThreadSettings, "planMode" | "resumed">) {}

	/** planMode reports whether the next turn is in plan mode. */
	get planMode(): boolean {
		return this.plan.value ?? this.settings.planMode.value;
	}

	/** setPlanMode chooses the mode of the next turn. */
	setPlanMode(on: boolean): void {
		this.plan.value = on;
	}

	/** settle ends the choices that the thread has as its own now. Others stay for the next turn. */
	settle(): void {
		const now = this.settings.resumed.value;
		if (this.model.value === now?.model) this.model.value = "";
		if (this.effort.value === now?.reasoningEffort) this.effort.value = "";
		if (this.policy.value === now?.approvalPolicy) this.policy.value = "";
		if (this.plan.value === this.settings.planMode.value) this.plan.value = null;
	}

	/** overrides returns the members of turn/start. */
	overrides(): Overrides {
		const model = this.model.value || this.settings.resumed.value?.model || "";
		return {
			...(this.model.value ? { model: this.model.value } : {}),
			...(this.effort.value ? { effort: this.effort.value } : {}),
			...(this.policy.value ? { approvalPolicy: this.policy.value as AskForApproval } : {}),
			...(this.planMode !== this.settings.planMode.value
				? { collaborationMode: { mode: this.planMode ? "plan" : "default", settings: { model } } } : {}),
		};
	}
}
