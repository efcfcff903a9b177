// Package login logs in at MCP servers by OAuth, and gives requests to them the access tokens.
//
// [Logins.Begin] finds the authorization server of an MCP server, registers a client if none is configured, and
// returns the address that the user opens. The browser brings the code to a port of this machine, and
// [Attempt.Wait] returns when the tokens are stored. [Logins.Transport] adds the access token to requests and
// refreshes it.
//
// # Trust
//
// The MCP server and the authorization server are not trusted:
//
//   - Addresses must use https. Only an MCP server on a loopback address can use http, and name loopback addresses.
//   - A server elsewhere cannot send this program to loopback, private or link-local addresses, except to its own host.
//   - Redirects to other hosts are not followed, and none with credentials.
//   - Responses are bounded. Their texts are cleaned before they are shown, and no error has a token.
//   - The metadata must name the MCP server and the issuer that they were requested for. State, PKCE and the issuer
//     bind the code to the attempt.
//   - A token goes only to the origin of the MCP server, and a refresh token only to its issuer.
//
// # Refresh
//
// One process refreshes a login at a time; the others read what it stored. The new tokens are durable before they are
// used. If the authorization server rejects a refresh token, the tokens are removed, and the login must be repeated.
//
// # Goroutines
//
// Each attempt has one that waits for the user, the time limit or the end of its context, and ends with the attempt.
// Each refresh has one, which blocks on the lock and on the authorization server for at most refreshTime. It continues
// if the request that needs it is cancelled.
package login
