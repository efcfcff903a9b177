// Package responses is the Responses API, as a [model.Wire].
//
// # Request
//
// The history is stateless: store is false, and each request has all items. The items of a
// [core.Prompt] are those of this API already, so they go out as they are, without the members that
// this server adds. The server keeps encrypted reasoning in the rollout and sends it back; the
// core decides which reasoning is part of a prompt.
//
// apply_patch is a custom tool with a grammar for models that know such tools. A provider that
// refuses custom tools is offered a function from then on. Other members that a provider may refuse
// are left out from then on too (see [model.Optional]).
//
// # Answer
//
// Text and reasoning are emitted as they come. An item that is whole follows its deltas as a piece of
// its own, with the id and the encrypted content that the provider gave. Tool calls come with the
// answer. An answer is whole with response.completed or response.incomplete; a stream that ends
// without them failed.
//
// Text of a whole message that differs from its deltas counts. Deltas of a second message are held
// until the first is whole, and deltas of a whole message are dropped.
//
// # Decisions
//
// Events are read by a decoder of this package, not by openai-go, the vendor's client. A delta from the
// HTTP body to emit takes 1.6 µs and 1 allocation of 190 bytes here, 3.0 µs and 4 allocations of
// 450 bytes in package chat, and 23 µs and 45 allocations of 13 KB in openai-go 3.96.0. That client
// also decodes each event into all members of the API, of which a server for any provider needs few,
// and it has no part in time limits, raw line breaks, documents in place of streams and errors in
// other shapes, which the Client knows for all wires.
package responses
