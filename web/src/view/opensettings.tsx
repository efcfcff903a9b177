// Opens the settings, which are a file of their own.

import { lazy } from "../lib/lazy.tsx";
import { openDialog } from "../store/dialog.ts";
import { Frame } from "./frame.tsx";

const Settings = lazy(() => import("./settings.tsx").then((m) => m.Settings));

/** openSettings opens the settings. */
export function openSettings(): void {
	openView("");
}

/** openBrowsers opens the settings with the remembered browsers. */
export function openBrowsers(): void {
	openView("Browsers");
}

function openView(first: string): void {
	openDialog({ kind: "part", view: () => <Frame title="Settings"><Settings first={first} /></Frame> });
}
