// Package digest analyses a part of a model's input history without a model. [Of] finds the facts that
// a summary must not lose, and [Facts.Missing] the ones that it lost. [Extract] and [Earlier] make a
// summary if no model can, and [Transcript] makes the text for a model that summarises.
//
// All functions are pure and total: equal inputs give equal outputs, no input panics, and time grows
// with the size of the input. Results are valid UTF-8 of at most the requested number of bytes.
//
// Sentences are found by their words, in a few languages, and are not understood. The words are chosen
// so that too many sentences are kept rather than too few: an extra sentence costs some tokens, a lost
// one the user's trust.
//
// # Files
//
//   - items.go reads messages, calls and outputs. exchange.go, outcome.go and cause.go have what a call did.
//   - sentence.go, cue.go and rule.go find sentences that settle or demand something. cut.go shortens texts.
//   - facts.go and sources.go find facts and their items. mention.go compares them with a text.
//   - extract.go, shorten.go and earlier.go make a summary, transcript.go the text for a model.
//   - about.go and ranking.go compare texts with a question.
package digest
