// Package chat is the Chat Completions API, as a [model.Wire].
//
// An answer is whole when the provider said so, by [DONE] or by a finish_reason. Providers write
// their chunks in many ways; package files say which: chunk.go has the members of an event,
// calls.go joins the fragments of tool calls, echo.go keeps what a provider wants back with its
// answer, and dialect.go what its models demand of the messages of a request.
//
// The request is made by go-openai. The answer is read without it, since its reader takes an error
// of the provider for the end of the answer.
package chat
