// The program to start: the one of the settings, of the extension, or of this machine.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Machine is where programs are looked for. */
export interface Machine {
	platform: NodeJS.Platform;
	home: string;
	env: Readonly<Record<string, string | undefined>>;
	/** extension is the folder of the extension. */
	extension: string;
	isProgram(path: string): boolean;
}

/** isProgram reports whether a file can be started. */
export function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

/** defaultName is the name in the settings by which the program is looked for. */
const defaultName = "appserver";

/** usualFolders returns folders in which programs of users are, beside those of PATH. */
function usualFolders(m: Machine): string[] {
	if (m.platform === "win32") {
		const local = m.env["LOCALAPPDATA"];
		return [...(local ? [join(local, "Programs", "appserver")] : []), join(m.home, "go", "bin")];
	}
	const own = [[".local", "bin"], ["bin"], ["go", "bin"]].map((parts) => join(m.home, ...parts));
	return [...own, "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];
}

/**
 * findProgram returns the program to start. A path or another name of the settings is taken as it is. The default name
 * is looked for in the extension, in PATH and in the usual folders. If it is nowhere, the name is returned.
 */
export function findProgram(setting: string, m: Machine): string {
	const name = setting.trim() || defaultName;
	if (name.startsWith("~/")) return m.home + name.slice(1);
	if (name !== defaultName || isAbsolute(name)) return name;
	const file = m.platform === "win32" ? "appserver.exe" : "appserver";
	const path = (m.env["PATH"] ?? m.env["Path"] ?? "").split(delimiter).filter(isAbsolute);
	const folders = [join(m.extension, "bin"), ...path, ...usualFolders(m)];
	return folders.map((f) => join(f, file)).find((f) => m.isProgram(f)) ?? name;
}
