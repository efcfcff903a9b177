// The key by which the server knows this browser, and the keys by which the browser knows servers. The browser keeps
// its own key and never shows it, also not to this page.

const databaseName = "appserver";
const storeName = "device";
const keyName = "key";
const serversName = "servers";
/** maxServers is the number of homes whose servers a browser knows at one address. */
const maxServers = 16;
/** proofPrefix begins the text that a server signs. */
const proofPrefix = "appserver server 1";
const algorithm = { name: "ECDSA", namedCurve: "P-256" };

/** Device is the key of this browser for this address. */
export interface Device {
	/** publicKey is the point of the public key in base64. */
	publicKey: string;
	sign(text: string): Promise<string>;
}

/**
 * device returns the key of this browser, or null if it has none. With create it makes one. Browsers without a store or
 * without keys have none, for example at addresses that are not of this machine.
 */
export async function device(create: boolean): Promise<Device | null> {
	try {
		const pair = await stored() ?? (create ? await makeKey() : null);
		if (!pair) return null;
		return {
			publicKey: base64(await crypto.subtle.exportKey("raw", pair.publicKey)),
			sign: async (text) => base64(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey,
				new TextEncoder().encode(text))),
		};
	} catch {
		return null;
	}
}

/** deviceId returns the id of a key, as the server computes it. */
export async function deviceId(publicKey: string): Promise<string> {
	const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(publicKey));
	return [...new Uint8Array(digest).subarray(0, 8)].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** addServer stores the public key of the servers of a home. */
export async function addServer(publicKey: string): Promise<void> {
	const others = (await servers()).filter((known) => known !== publicKey);
	await inStore("readwrite", (store) => store.put([...others.slice(1 - maxServers), publicKey], serversName));
}

/** servers returns the public keys of known servers. A browser that is not remembered has none. */
export function servers(): Promise<string[]> {
	return inStore<string[] | undefined>("readonly", (store) => store.get(serversName))
		.then((keys) => keys ?? [], () => []);
}

/** nonce returns a random text for a proof. */
export function nonce(): string {
	return base64(crypto.getRandomValues(new Uint8Array(32)).buffer);
}

/** proves reports whether one of the servers has made a proof at the address of this page. */
export async function proves(
	known: readonly string[], proof: string, nonce: string, challenge: string,
): Promise<boolean> {
	const text = new TextEncoder().encode([proofPrefix, location.origin, nonce, challenge].join("\n"));
	const signature = bytes(proof);
	for (const key of known) {
		const imported = await crypto.subtle.importKey("raw", bytes(key), algorithm, false, ["verify"]);
		if (await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, imported, signature, text)) return true;
	}
	return false;
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

function base64(bytes: ArrayBuffer): string {
	return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

/** makeKey makes a key and stores it, unless another tab has stored one meanwhile. */
async function makeKey(): Promise<CryptoKeyPair> {
	const made = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
	await inStore("readwrite", (store) => {
		const present = store.count(keyName);
		present.onsuccess = () => {
			if (present.result === 0) store.put(made, keyName);
		};
		return present;
	});
	return await stored() ?? made;
}

function stored(): Promise<CryptoKeyPair | undefined> {
	return inStore<CryptoKeyPair | undefined>("readonly", (store) => store.get(keyName));
}

/** inStore runs a request in a transaction, and returns its result when the transaction is complete. */
function inStore<T>(mode: IDBTransactionMode, run: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
	return new Promise((resolve, reject) => {
		const opening = indexedDB.open(databaseName, 1);
		opening.onupgradeneeded = () => opening.result.createObjectStore(storeName);
		opening.onerror = () => reject(opening.error);
		opening.onsuccess = () => {
			const database = opening.result;
			const transaction = database.transaction(storeName, mode);
			const request = run(transaction.objectStore(storeName));
			transaction.oncomplete = () => {
				database.close();
				resolve(request.result);
			};
			transaction.onabort = () => {
				database.close();
				reject(transaction.error);
			};
		};
	});
}
