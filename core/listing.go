package core

// ListedModel describes a model in the list of a provider.
type ListedModel struct {
	// ID names the model in requests. Name and Description are for people, and may be "".
	ID, Name, Description string
	// Window is the context window in tokens, or 0 if unknown.
	Window int64
	// Modalities are the kinds of input (text, image, audio) that the model accepts, or nil if unknown.
	Modalities []string
	// Created is the time of its release in Unix seconds, or 0 if unknown.
	Created int64
	// Wordless is set for models whose output is not text.
	Wordless bool
}
