// Package schema has the JSON Schema and TypeScript files of the protocol. schema/gen generates them
// from package protocol. The program embeds appserver.schemas.json, from which it makes the files of
// messages, and the TypeScript file, both compressed: folder packed has the copies that it embeds. The
// repository has these two alone, in folders json and ts; appserver generate-json-schema writes the others.
//
// The JSON Schema files have draft 07. appserver.schemas.json has every definition. Each message has a
// file of its name with the definitions that it needs: ThreadStartParams.json,
// ThreadStartResponse.json, TurnCompletedNotification.json and so on. ClientRequest.json,
// ServerNotification.json and ServerRequest.json describe whole messages by their method, and
// ErrorResponse.json the response to a failed request. The TypeScript file declares the same types,
// and the interface Methods with the params and the result of every method.
//
// The schema of requests is wider than the schema of responses: a member that clients can omit is not
// required and can be null. The server itself writes every member. Values of closed sets can grow with
// later versions.
package schema
