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
package responses
