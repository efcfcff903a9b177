// Package schema holds the JSON Schema and TypeScript files of the protocol. They
// are generated from package protocol by schema/gen and part of the program.
//
// The JSON Schema files are of draft 07: appserver.schemas.json with every
// definition, and one file for each message, named after it, with the
// definitions that it needs: ThreadStartParams.json, ThreadStartResponse.json,
// TurnCompletedNotification.json and so on. ClientRequest.json,
// ServerNotification.json and ServerRequest.json describe whole messages by their
// method, ErrorResponse.json the answer to a request that failed. The TypeScript
// file declares the same types, and the interface Methods, which gives the params
// and the result of every method.
//
// The files say what the server reads and what it writes: a member that clients
// may leave out is not required and may be null; the server itself writes every
// member. Values of closed sets may grow with later versions.
package schema
