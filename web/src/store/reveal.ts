// Links between the timeline and the context panel.

/** reveal has functions that the views of the timeline and of the panel set while they are shown. */
export const reveal = {
	/** timeline shows the row of an item that is loaded. */
	timeline: (_itemId: string): unknown => undefined,
	/** hold keeps a row of the timeline where it is when the rows change next. */
	hold: (_key: string): void => undefined,
	/** end shows the end of the timeline. */
	end: (): void => undefined,
	/** context selects a context item in the panel. */
	context: (_id: string): void => undefined,
	/** contextRow scrolls the list of the panel to a context item. The focus stays. */
	contextRow: (_id: string): void => undefined,
	/** removed searches for an item that is not in the list any more, by a text that it has, and selects it. */
	removed: (_id: string, _query: string): void => undefined,
};
