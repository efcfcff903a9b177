// The path of the program of this platform. A client that starts processes itself uses it in place of
// the launcher: spawn(require("appserver"), ["-c", "model_provider=offline"]).
"use strict";

const { name, optionalDependencies } = require("./package.json");

const platform = `${name}-${process.platform}-${process.arch}`;
if (!(platform in optionalDependencies)) {
	throw new Error(`${name}: there is no program for ${process.platform} on ${process.arch}`);
}
const file = process.platform === "win32" ? "appserver.exe" : "appserver";
try {
	module.exports = require.resolve(`${platform}/bin/${file}`);
} catch {
	throw new Error(`${name}: the package ${platform} is missing: install again with optional dependencies`);
}
