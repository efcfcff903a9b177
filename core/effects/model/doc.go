// Package model has the model providers. A provider sends a [core.Prompt] and turns the streamed answer
// into pieces and a [core.Answer]. A [Client] is an endpoint that speaks a [Wire]: package chat has Chat
// Completions, package responses the Responses API. Package offline is a provider without a network. A
// [Router] selects a provider by the name in the prompt. A [ModelCache] caches the lists of models.
//
// A further API needs one more package with a [Wire] and its [Reading], a value of wire_api in
// core/effects/config, and a case in cmd/appserver/internal/app, which connects both. The Client handles
// the connection, time limits, events, retries, errors and secrets. Data that a provider needs back is
// stored as a [protocol.ProviderEcho] for every API. The core knows one fact about an API: whether it
// accepts items of the Responses API. The tests of this package run on each wire, and a further wire adds
// one encoding to them.
//
// # Contract
//
// Every provider has the method
//
//	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
//
// It calls emit in the order of the answer, from the caller's goroutine. It never emits an empty text,
// and nothing after it has returned. The error is the cause of ctx if ctx has ended, and a
// *[core.ModelError] otherwise. The caller retries, with two exceptions. A request on a kept connection
// that was just closed is sent again. A request whose form or part the provider refused is sent again as
// package refusal says. A piece of kind PieceNotice before the answer tells people what it lacks.
//
// An answer is complete after the event that [Wire].Terminal names. A stream that ends without it has
// failed and can be retried, even if text was emitted. Tool calls are returned with a complete answer
// only. Each has an id that no other call of the prompt or the answer has.
//
// # Time
//
// A provider may send nothing for [Endpoint].IdleTimeout: from the request to the headers of the answer,
// and between any two reads of the answer. Keep-alive comments extend the limit three times at most. After
// that only an event does. The time in emit does not count. After a finish_reason, the rest of the answer
// (usage, [DONE]) has a few seconds.
//
// A provider on this machine or in its network reads long prompts for many minutes. Before the first piece of
// its answer, it may send nothing for half an hour, if its endpoint sets no limit, and only comments for twelve
// limits, which is six hours by default.
//
// # Secrets
//
// The key, and the values of configured headers and query parameters, are removed from every error.
// Values of less than six bytes stay, because they protect nothing.
//
// # Goroutines
//
// A [ModelCache] starts one for each list of models that it requests. It waits for the provider, three
// seconds at most, and [ModelCache.Close] ends it. A list of Ollama's models starts four, which ask for
// one model each and end with it. The package starts no other. The idle limit is one
// time.AfterFunc per request, which cancels the request and ends. Stream stops it before it returns. The
// HTTP transport keeps goroutines for idle connections until [Client.Close].
//
// # Decisions
//
// Lists of models are cached in memory. model/list waits for them, at most three seconds. A turn uses the
// known context window. If none is known, the list is requested for the next turn: a wrong window is better
// than a turn that does not start. Only the first list of a local provider is awaited, at most half a second,
// and again after the first answer, because local servers know the window of a model once it is loaded.
//
// The software of a server is learned from its list of models and its headers, never from its address. Only
// then it gets requests beside those of the API, such as /api/show of Ollama and /props of llama-server.
//
// The demands of a provider are learned from its rejections, per model, until the process ends.
// docs/adr/012-model-wires.md has the reasons.
package model
