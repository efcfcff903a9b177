// The configuration in effect.

import { visible } from "../lib/format.ts";
import type { ConfigLayerSource, ConfigReadResponse } from "../wire/types.ts";
import * as app from "./app.ts";

/** readConfig reads the configuration of the open thread's folder, or of new threads. */
export function readConfig(): Promise<ConfigReadResponse> {
	const cwd = app.current.peek()?.settings.thread.peek()?.cwd;
	return app.connection.value!.call("config/read", { includeLayers: true, ...(cwd ? { cwd } : {}) });
}

/** sourceName describes where a value comes from. */
export function sourceName(source: ConfigLayerSource | undefined): string {
	switch (source?.type) {
		case undefined: return "default";
		case "user": return "your file";
		case "system": return "file of the machine";
		case "project": return `project ${visible(source.dotCodexFolder)}`;
		case "sessionFlags": return "command line";
	}
}
