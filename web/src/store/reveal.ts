// Links between the timeline and the context panel.

export const reveal = {
	/** timeline shows the row of an item. It returns false if the item is not loaded. */
	timeline: (_itemId: string): boolean => false,
	/** end shows the end of the timeline. */
	end: (): void => undefined,
	/** context selects a context item in the panel. */
	context: (_id: string): void => undefined,
};
