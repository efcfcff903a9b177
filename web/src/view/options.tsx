// The settings of the next turn: model, effort, approval policy and mode.

import { Icon } from "../lib/icons.tsx";
import { visible } from "../lib/format.ts";
import type { TurnChoice } from "../store/choice.ts";
import { modelStore } from "../store/models.ts";
import type { ThreadStore } from "../store/thread.ts";
import type { AskForApproval } from "../wire/types.ts";
import { openModelPicker } from "./openmodelpicker.tsx";

/** policies are the approval policies, with what they mean. */
export const policies: readonly [Extract<AskForApproval, string>, string][] = [
	["untrusted", "ask for each command"], ["on-request", "ask when needed"], ["never", "never ask"],
];

/** TurnOptions chooses the settings of the next turn. */
export function TurnOptions({ store, choice }: { store: ThreadStore; choice: TurnChoice }) {
	const settings = store.settings.resumed.value;
	const chosen = choice.model.value || settings?.model;
	const efforts = modelStore.models.value.find((m) => m.model === chosen)?.supportedReasoningEfforts ?? [];
	return (
		<span class="options">
			<button type="button" class="quiet" aria-label="Model of the next turn" aria-haspopup="dialog" title="Model"
				disabled={!settings} onClick={() => openModelPicker({ settings: settings!, choice: choice.model })}>
				<span class="ellipsis">{visible(chosen ?? "model")}</span><Icon name="down" />
			</button>
			{efforts.length > 0 && (
				<select aria-label="Effort of the next turn" title="Reasoning effort"
					value={unlessSame(choice.effort.value, settings?.reasoningEffort)}
					onChange={(e) => (choice.effort.value = e.currentTarget.value)}>
					<option value="">{settings?.reasoningEffort ?? "default"} effort</option>
					{efforts.filter((o) => o.reasoningEffort !== settings?.reasoningEffort)
						.map((o) => <option value={o.reasoningEffort} title={o.description}>{o.reasoningEffort} effort</option>)}
				</select>
			)}
			<select aria-label="Approval policy of the next turn" title="Approval policy"
				value={unlessSame(choice.policy.value, settings?.approvalPolicy)}
				onChange={(e) => (choice.policy.value = e.currentTarget.value)}>
				<option value="">{policyName(settings?.approvalPolicy)}</option>
				{policies.filter(([p]) => p !== settings?.approvalPolicy).map(([p, name]) => <option value={p}>{name}</option>)}
			</select>
			<label class="mode" title="In plan mode the agent proposes a plan and changes nothing.">
				<input type="checkbox" checked={choice.planMode}
					onChange={(e) => choice.setPlanMode(e.currentTarget.checked)} />Plan mode
			</label>
		</span>
	);
}

/** policyName describes an approval policy. */
export function policyName(policy: AskForApproval | undefined): string {
	if (policy === undefined) return "approvals";
	return typeof policy === "string" ? policies.find(([p]) => p === policy)?.[1] ?? policy : "granular rules";
}

/** unlessSame returns a choice, or "" if the thread has it already: the list has that value as its first option. */
const unlessSame = (choice: string, now: unknown): string => (choice === now ? "" : choice);
