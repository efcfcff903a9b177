// The size of a context window.

/** assumedWindow is the size, in tokens, of a window that the server does not know. */
const assumedWindow = 128_000;

/** highShare is the share of a window above which little room is left. */
export const highShare = 0.9;

/** windowOf returns the size of a context window in tokens. */
export const windowOf = (usage: { modelContextWindow: number | null }): number =>
	usage.modelContextWindow ?? assumedWindow;
