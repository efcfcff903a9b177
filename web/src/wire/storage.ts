// The storages of the browser, which the user can block.

type Keeper = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Memory keeps texts until the page is closed. */
class Memory implements Keeper {
	private readonly texts = new Map<string, string>();

	getItem(key: string): string | null {
		return this.texts.get(key) ?? null;
	}

	setItem(key: string, text: string): void {
		this.texts.set(key, text);
	}

	removeItem(key: string): void {
		this.texts.delete(key);
	}
}

/** opened returns a storage of the browser, or memory if the user blocks the data of pages. */
function opened(open: () => Keeper): Keeper {
	try {
		return open();
	} catch {
		return new Memory();
	}
}

/** lasting keeps texts for the address of the page. */
export const lasting = opened(() => localStorage);
/** ofTab keeps texts for this tab. */
export const ofTab = opened(() => sessionStorage);
