// Package redact removes secrets from lines of a rollout before they are written.
//
// A secret is a text whose form a detector knows, or a match of a pattern of the user. "[redacted]"
// replaces it. A payload stays one JSON value with the same members in the same order. Only texts
// change: never a member's name, an id, a word of the protocol, a working directory, the name of a
// tool, encrypted content of a provider, or data in a URL. A text that is JSON, such as the arguments
// of a call, stays JSON.
//
// A detector finds a secret by its begin; see [Detectors]. A text that is only long and random is no
// secret: hashes, ids and images are like that. The time is linear in the length of a line: one pass
// searches for begins of three bytes, and expressions (RE2) run only over texts of lines with a begin.
// Patterns of the user run over all texts.
//
// A [Redactor] is immutable. Any number of goroutines may use one.
package redact
