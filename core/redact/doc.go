// Package redact takes secrets out of lines of a rollout before they are written.
//
// A secret is what a detector of this package knows by its form, or what a pattern of the
// user matches. "[redacted]" stands in its place. A payload stays one JSON value with the same
// members in the same order. Only texts change: never a member's name, an id, a word of
// the protocol, a working directory, the name of a tool, what a provider has encrypted, or
// data in a URL. A text that is itself JSON, as the arguments of a call are, stays JSON.
//
// A detector knows a secret by how it begins; see [Detectors]. What is only long and random
// is no secret: hashes, ids and images are. The time is linear in the length of a line:
// one pass looks for begins of three bytes, and expressions (RE2) run only over texts of lines
// that have one. Patterns of the user run over all texts.
//
// A [Redactor] is not changed by its use, and any number of goroutines may use one.
package redact
