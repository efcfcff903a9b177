// Texts that outlive the page.

/** Keeper is the part of localStorage that keeps texts. */
export type Keeper = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** keep stores a text, or removes it if it is empty. If the browser has no room for the text, the former one stays. */
export function keep(storage: Keeper, key: string, text: string): void {
	try {
		if (text === "") storage.removeItem(key);
		else storage.setItem(key, text);
	} catch {
		// the page has the text until it is closed
	}
}
