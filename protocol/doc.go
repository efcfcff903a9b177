// Package protocol is the vocabulary of appserver: the requests, answers and
// notifications of the Codex app-server protocol, the items a model sees, and
// the lines of a rollout file. It imports nothing of this project, and every
// other package speaks in its words.
//
// # Shapes
//
// The names of types and members are those of the reference implementation,
// version [Level]. What clients send is read by [DecodeParams], with these tags:
//
//	json:",omitempty"   may be left out or null; every pointer has it, or default:"null"
//	default:"TEXT"      the same, and is then TEXT: a string, or JSON; null for a pointer
//	oneof:"a b c"       the words that the string, or each of the list, may be
//
// Every other member is required. In answers and notifications every member is
// written: null where there is nothing, [] for an empty list; only those marked
// omitempty are left out.
//
// Params are strict: what does not fit is refused, so that nobody believes a setting
// in force that is not. Members that are not known are passed over, as those of
// later versions. What files hold and other versions wrote is read tolerantly, and
// variants and kinds that are not known are kept as they came.
//
// # Unions
//
// A union is a struct that embeds an interface with a closed set of variants, told
// apart by the member type. [UserInput], [ThreadItem] and [ResponseItem] have one
// more, [*Unknown]: the raw JSON of what this package does not know, which is
// written back unchanged. In params a UserInput is never Unknown.
//
// # Methods
//
// [Methods], [Notifications] and [ServerRequests] are the only places that know
// which methods exist. Dispatch, schema and documentation are made from them. A method
// without a handler does not compile.
package protocol

// Level is the version of the reference protocol that is served. Clients read it
// as the first version in the user agent.
const Level = "0.169.0"
