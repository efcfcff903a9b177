// Adds the packages of vendor/vendor.json to a CycloneDX document.
//
//     node web/sbom.mjs FILE

import { readFileSync, writeFileSync } from "node:fs";

const [, , path] = process.argv;
const list = JSON.parse(readFileSync(new URL("./vendor/vendor.json", import.meta.url), "utf8"));
const document = JSON.parse(readFileSync(path, "utf8"));
for (const p of list.packages) {
	const purl = `pkg:npm/${p.name.replace("@", "%40")}@${p.version}`;
	document.components = document.components.filter((c) => c.purl !== purl);
	document.components.push({
		type: "library", name: p.name, version: p.version, purl, "bom-ref": purl, licenses: [{ license: { id: p.licence } }],
		hashes: [{ alg: "SHA-512", content: Buffer.from(p.integrity.slice("sha512-".length), "base64").toString("hex") }],
	});
}
writeFileSync(path, `${JSON.stringify(document)}\n`);
