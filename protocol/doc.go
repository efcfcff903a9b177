// Package protocol is the vocabulary of appserver: the requests, responses and notifications of the Codex
// app-server protocol, the items that a model receives, and the lines of a rollout file. It imports no
// package of this project, and every other package uses its types.
//
// # Shapes
//
// The names of types and members are those of the reference implementation, version [Level].
// [DecodeParams] reads the params of clients, with these tags:
//
//	json:",omitempty"   optional or null; every pointer has it, or default:"null"
//	default:"TEXT"      optional; TEXT, a string or JSON, is the default; null for a pointer
//	oneof:"a b c"       the permitted words of the string, or of each element of the list
//
// All other members are required. Responses and notifications have every member: null if it is unknown,
// [] for an empty list. Only members with omitempty can be absent.
//
// Params are strict: the server rejects values that do not fit, so that no client relies on a setting
// without effect. It ignores unknown members, because later versions have more. Files and data of other
// versions are decoded tolerantly: unknown variants and kinds are kept unchanged.
//
// # Unions
//
// A union is a struct that embeds an interface with a closed set of variants. The member type identifies
// the variant. [UserInput], [ThreadItem] and [ResponseItem] have one more variant, [*Unknown]: the raw
// JSON of an unknown variant, which is written back unchanged. In params a UserInput is never Unknown.
//
// # Methods
//
// [Methods], [Notifications] and [ServerRequests] are the only lists of methods. Dispatch, schema and
// documentation are generated from them. A method without a handler does not compile.
package protocol

// Level is the version of the reference protocol that is served. Clients read it
// as the first version in the user agent.
const Level = "0.169.0"
