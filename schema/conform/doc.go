// Package conform holds the protocol against the reference implementation, which
// writes its own schema files with `codex app-server generate-json-schema`.
//
// [Compare] reads two sets of schema files and tells where one says something
// else than the other. What a server reads must be at least what the reference
// reads; what it writes must be at most what the reference writes, with every
// member. [ValidateTranscript] checks messages that a server wrote.
//
// The package is for tests; the program does not contain it.
package conform
