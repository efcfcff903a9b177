// The part of the page's address that names the open thread.

/** addressed returns the id of the thread that the address names, if it names one. */
export function addressed(): string | undefined {
	return /^#\/thread\/([\w-]+)$/.exec(location.hash)?.[1];
}

/** clearAddress removes a thread from the address. An address that names another one stays, because that opens next. */
export function clearAddress(id: string): void {
	if (location.hash === "" || (addressed() ?? id) !== id) return;
	history.replaceState(null, "", location.pathname + location.search);
}
