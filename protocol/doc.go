// Package protocol is the vocabulary of appserver: the requests, answers and
// notifications of the Codex app-server protocol, the items a model sees, and
// the lines of a rollout file. It imports nothing of this project, and every
// other package speaks in its words.
//
// # Shapes
//
// A member of a *Params type that is a pointer, or is marked omitempty, may be
// left out or null. Every other member of a *Params type is required. In answers
// and notifications every member is always written: null where there is nothing,
// [] for an empty list. The names of types and members are those of the reference
// implementation, version [Level].
//
// # Unions
//
// A union is a struct that embeds an interface with a closed set of variants.
// A variant that this package does not know is kept as its raw JSON and written
// back unchanged.
//
// # Methods
//
// [Methods], [Notifications] and [ServerRequests] are the only places that know
// which methods exist. Dispatch, schema and documentation are made from them.
package protocol

// Level is the version of the reference protocol that is served. Clients read it
// as the first version in the user agent.
const Level = "0.169.0"
