// The dialog that chooses the model of the next turn, with windows and prices.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Signal } from "@preact/signals";
import * as app from "../store/app.ts";
import { closeDialog } from "../store/dialog.ts";
import { modelFacts } from "../store/models.ts";
import { Icon } from "../lib/icons.tsx";
import { visible } from "../lib/format.ts";
import type { Model, ThreadResumeResponse } from "../wire/types.ts";
import { Load } from "./parts.tsx";
import { useResource } from "./useresource.ts";

/** maxShown bounds the rows; providers list hundreds of models. */
const maxShown = 100;

/** PickerProps has the settings of a thread, and the choice, which is empty for the model of the thread. */
export interface PickerProps {
	settings: Pick<ThreadResumeResponse, "model" | "modelProvider">;
	choice: Signal<string>;
}

/** Picker chooses one of the models of a thread's provider. */
export function Picker({ settings, choice }: PickerProps) {
	const list = useResource(
		() => app.connection.value!.call("model/list", { modelProvider: settings.modelProvider }), []);
	return (
		<Load resource={list} what="The list of models">{({ data }) => (
			<Choices models={data} own={settings.model} chosen={choice.value || settings.model} choose={(model) => {
				choice.value = model === settings.model ? "" : model;
				closeDialog();
			}} />
		)}</Load>
	);
}

interface ChoicesProps {
	models: readonly Model[];
	/** own is the model of the thread, which the provider need not list. */
	own: string;
	chosen: string;
	choose(model: string): void;
}

function Choices({ models, own, chosen, choose }: ChoicesProps) {
	const [text, setText] = useState("");
	const [at, setAt] = useState(0);
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => input.current?.focus(), []);
	const words = text.toLowerCase().split(/\s+/).filter((w) => w !== "");
	const found = models.filter((m) => words.every((w) => `${m.model} ${m.displayName}`.toLowerCase().includes(w)));
	const shown = found.slice(0, maxShown);
	const row = Math.min(at, shown.length - 1);
	const onKeyDown = (e: KeyboardEvent) => {
		const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (by !== undefined) setAt((row + by + shown.length) % Math.max(1, shown.length));
		else if (e.key === "Enter" && shown[row]) choose(shown[row].model);
		else return;
		e.preventDefault();
	};
	return (
		<div class="palette models">
			<input ref={input} type="text" aria-label="Find a model" placeholder="Find a model" value={text} spellcheck={false} role="combobox"
				aria-expanded="true" aria-controls="models" aria-activedescendant={shown.length > 0 ? `model-${row}` : undefined}
				onInput={(e) => {
					setText(e.currentTarget.value);
					setAt(0);
				}} onKeyDown={onKeyDown} />
			<div id="models" role="listbox" aria-label="Models" class="model-list scroll">
				{shown.map((m, i) => (
					<div role="option" id={`model-${i}`} class="suggestion" aria-selected={i === row} onClick={() => choose(m.model)}>
						<span class="model-mark">{m.model === chosen && <Icon name="check" />}</span>
						<span class="model-name">{visible(m.displayName)}{m.model === own && <span class="faint"> of this thread</span>}</span>
						<span class="faint">{modelFacts(m)}</span>
					</div>
				))}
			</div>
			{found.length === 0 && <p class="hint">No model of {models.length} matches.</p>}
			{found.length > shown.length && <p class="faint">{found.length - shown.length} more. Type a part of the name.</p>}
		</div>
	);
}
