// Package digest reads a stretch of the model's input history and says what it
// holds, without a model: the facts that a summary of it must not lose ([Of],
// [Facts.Missing]), a summary of its own for where no model is at hand or its answer
// is of no use ([Extract], [Earlier]), and the stretch as text for a model that is
// to summarise it ([Transcript]).
//
// Everything here is a pure function and total: equal inputs give equal outputs, no
// input panics, and time grows with the size of the input. What is handed out is
// valid UTF-8, and at most as many bytes as were asked for.
//
// Sentences are found by the words in them, in a few languages, without being
// understood. The words are chosen so that rather too many sentences are kept than
// too few: one too many costs some tokens, one too few the user's trust.
package digest
