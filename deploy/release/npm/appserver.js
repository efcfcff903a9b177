#!/usr/bin/env node
// Starts the program of this platform. The program has the standard streams of this process, so no
// byte passes through Node.js. This process ends as the program does: by the same exit code or signal.
"use strict";

const { spawn } = require("node:child_process");

let path;
try {
	path = require("./path.js");
} catch (error) {
	console.error(error.message);
	process.exit(1);
}
const program = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// Windows sends Ctrl-C to the program itself, and has no other way to ask a process to end.
const forward = (signal) => process.platform !== "win32" && program.kill(signal);
const signals = ["SIGHUP", "SIGINT", "SIGTERM"];
for (const signal of signals) process.on(signal, forward);

// npx runs this file by a shell, which a signal to npx ends. Then this process ends, too, and the program
// decides: a server of standard input ends with its parent, a server of a socket goes on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();

program.on("error", (error) => {
	console.error(`appserver: ${path} cannot be started: ${error.message}`);
	process.exit(1);
});
program.on("exit", (code, signal) => {
	if (signal === null) process.exit(code);
	for (const name of signals) process.removeListener(name, forward);
	process.kill(process.pid, signal);
});
