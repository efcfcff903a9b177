package core

// ListedModel is what a provider tells of a model that it has.
type ListedModel struct {
	// ID is what requests name it by. Name and Description are for people, and may be "".
	ID, Name, Description string
	// Window is its context window in tokens, 0 where that is not told.
	Window int64
	// Modalities are those of text, image and audio that it takes, nil where that is not
	// told.
	Modalities []string
	// Created is when it was made, in Unix seconds; 0 where that is not told.
	Created int64
	// Wordless is set for models that do not answer with text.
	Wordless bool
}
