// Opens the settings, which are a file of their own.

import { lazy } from "../lib/lazy.tsx";
import { Frame, openDialog } from "./dialogs.tsx";

const Settings = lazy(() => import("./settings.tsx").then((m) => m.Settings));

export function openSettings(): void {
	openDialog({ kind: "part", view: () => <Frame title="Settings"><Settings /></Frame> });
}
