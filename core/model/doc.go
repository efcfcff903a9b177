// Package model is the model providers: it sends a [core.Prompt] and turns the streamed answer into
// pieces and a [core.Answer]. A [Client] is an endpoint that speaks a [Wire]: package chat has Chat
// Completions, package responses the Responses API. Package offline is a provider without a network. [Router]
// picks a provider by the
// name in the prompt. [ModelCache] keeps the lists of their models.
//
// A further API is one more package with a [Wire] and its [Reading], which have six and four methods,
// a value of wire_api in core/config, and a case in cmd/appserver/internal/app, which puts both together. The
// connection, time limits, events, retries, errors and secrets are the Client's. What a provider wants
// back with its answer is kept as a [protocol.ProviderEcho], whatever the API: the core knows of the
// API only whether it takes items of the Responses API back. The tests of this package hold each wire
// to the same promises; a further one is one more of their encodings.
//
// # Contract
//
// Every provider has the method
//
//	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
//
// It calls emit in the order of the answer, from the caller's goroutine, never
// with empty text and never after it has returned. The error is ctx's cause when
// ctx has ended, and a *[core.ModelError] otherwise. Retries are the caller's, but
// for two: a request that met a kept connection just closed, and one refused for a
// member that only makes it cheaper (see [Optional]), which goes out again
// without that member, or for its form (see [Wire].Learn), which goes out again in the form
// asked for.
//
// An answer is whole when the provider said so, by the event that [Wire].Terminal names.
// A stream that ends without it is a failure that may be retried, also when
// text has been emitted. Tool calls are given only with a whole answer, each with
// an id that no other call of the prompt or the answer has.
//
// # Time
//
// A request may show no life for [Endpoint].IdleTimeout: from the moment it is
// sent until the answer's headers, and between any two reads of the answer.
// Keep-alive comments are life for at most three times as long; after that only
// an event is. While emit runs no time counts. Once a finish_reason has come,
// what may follow it (usage, [DONE]) is awaited for seconds at most.
//
// # Secrets
//
// The key, and the values of configured headers and query parameters, are cut out
// of every error, except those of less than six bytes, which protect nothing.
//
// # Goroutines
//
// A [ModelCache] starts one for each list of models that it asks for; it waits for the
// provider, three seconds at most, and [ModelCache.Close] ends it. No other is started
// here. The idle limit is a time.AfterFunc per request, which
// cancels the request and ends; Stream stops it before it returns. The HTTP
// transport keeps goroutines for idle connections until [Client.Close].
//
// # Decisions
//
// The lists of models of providers are kept in memory. Only model/list waits for them, at most
// three seconds. A turn uses the known context window. If none is known, the provider is asked
// for the next turn: a wrong window is better than a turn that does not start.
//
// What a provider demands is learned from its refusals, per model, until the process ends.
// docs/adr/012-model-wires.md has the reasons.
package model
