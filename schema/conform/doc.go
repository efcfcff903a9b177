// Package conform compares the protocol with the reference implementation, which writes its own schema
// files with `codex app-server generate-json-schema`.
//
// [Compare] reads two sets of schema files and returns their deviations. The server must accept at
// least the requests that the reference accepts. It must send at most the values that the reference
// sends, with every member. [ValidateTranscript] checks messages that a server sent.
//
// The package is for tests. The program does not contain it.
package conform
