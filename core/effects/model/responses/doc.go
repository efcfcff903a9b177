// Package responses is the Responses API, as a [model.Wire].
//
// # Request
//
// The history is stateless: store is false, and each request has all items. The items of a
// [core.Prompt] already have the form of this API, so they are sent as they are, without the members
// that this server adds. The server stores encrypted reasoning in the rollout and sends it back. The
// core decides which reasoning is part of a prompt.
//
// apply_patch is a custom tool with a grammar for models that support such tools. After a provider
// rejected custom tools, it is offered a function. Package refusal handles other refusals.
//
// # Answer
//
// Text and reasoning are emitted as they are received. A complete item follows its deltas as a piece,
// with the id and the encrypted content from the provider. Tool calls come with the answer. An answer
// is complete after response.completed or response.incomplete. A stream that ends without them has
// failed.
//
// If the text of a complete message differs from its deltas, the text counts. Deltas of a second
// message are held until the first is complete. Deltas of a complete message are dropped.
//
// # Decisions
//
// This package decodes events itself, and does not use openai-go, the vendor's client. A delta from
// the HTTP body to emit takes 1.6 µs and 1 allocation of 190 bytes here, 3.0 µs and 4 allocations of
// 450 bytes in package chat, and 23 µs and 45 allocations of 13 KB in openai-go 3.96.0. That client
// also decodes each event into all members of the API, and a server for any provider needs few of
// them. It does not help with time limits, raw line breaks, documents instead of streams and errors of
// other shapes, which the Client handles for all wires.
package responses
