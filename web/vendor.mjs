// Downloads the packages of vendor/vendor.json from npm, and copies the listed files unmodified.
//
//     node web/vendor.mjs [NAME@VERSION...]
//
// A package of the listed version must have the listed checksum. An argument selects another version of
// a package, whose checksums are written then.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const vendor = new URL("./vendor/", import.meta.url).pathname;
const list = JSON.parse(readFileSync(join(vendor, "vendor.json"), "utf8"));
const wanted = new Map(process.argv.slice(2).map((a) => [a.slice(0, a.lastIndexOf("@")), a.slice(a.lastIndexOf("@") + 1)]));
const scratch = mkdtempSync(join(tmpdir(), "vendor-web-"));

for (const name of wanted.keys()) {
	if (!list.packages.some((p) => p.name === name)) throw new Error(`${name} is not in vendor.json`);
}
try {
	for (const p of list.packages) {
		const version = wanted.get(p.name) ?? p.version;
		const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", `${p.name}@${version}`], { cwd: scratch, encoding: "utf8" }));
		const archive = readFileSync(join(scratch, packed.filename));
		const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
		if (version === p.version && integrity !== p.integrity) throw new Error(`${p.name} ${version} has another checksum: ${integrity}`);
		execFileSync("tar", ["-xzf", packed.filename], { cwd: scratch });
		for (const file of Object.keys(p.files)) {
			const from = join(scratch, "package", file);
			const to = join(vendor, p.name, file);
			mkdirSync(dirname(to), { recursive: true });
			cpSync(from, to);
			p.files[file] = createHash("sha256").update(readFileSync(from)).digest("hex");
		}
		rmSync(join(scratch, "package"), { recursive: true });
		Object.assign(p, { version, integrity });
		console.log(`${p.name} ${version}: ${Object.keys(p.files).length} files`);
	}
	writeFileSync(join(vendor, "vendor.json"), `${JSON.stringify(list, null, 1)}\n`);
} finally {
	rmSync(scratch, { recursive: true });
}
