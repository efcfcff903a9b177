// Package chat is the Chat Completions API, as a [model.Wire].
//
// An answer is complete after [DONE] or a finish_reason. Providers write their chunks in many ways.
// chunk.go has the members of an event, calls.go joins the fragments of tool calls, echo.go stores the
// data that a provider needs back, and dialect.go has the forms of messages that models demand.
//
// go-openai encodes the request. It does not read the answer, because its reader treats an error of
// the provider as the end of the answer.
package chat
