// Commands of a shell.

const segment = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;

/**
 * scriptOf returns the script of a command such as "/bin/sh -c 'ls -l'". It returns a command unchanged
 * that is no shell with one script.
 */
export function scriptOf(command: string): string {
	const call = /^\S*(?:bash|sh|zsh) -l?c /.exec(command);
	if (!call) return command;
	let script = "";
	segment.lastIndex = call[0].length;
	while (segment.lastIndex < command.length) {
		const m = segment.exec(command);
		if (!m) return command;
		script += m[1] ?? m[2]?.replace(/\\([$`"\\])/g, "$1") ?? m[3] ?? m[4];
	}
	return script;
}
