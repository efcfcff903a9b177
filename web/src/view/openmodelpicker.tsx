// Opens the choice of a model, which is a file of its own.

import { lazy } from "../lib/lazy.tsx";
import { openDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";
import type { PickerProps } from "./modelpicker.tsx";

const Picker = lazy(() => import("./modelpicker.tsx").then((m) => m.Picker));

/** openModelPicker chooses the model of the next turn. */
export function openModelPicker(p: PickerProps): void {
	openDialog({ kind: "part", view: () => <Frame title="Model of the next turn"><Picker {...p} /></Frame> });
}
