// Package peer connects the nodes of a fleet. Each node has a [Port], which dials links to other nodes.
// [Port.Listen] accepts links from them. A [Link] is a WebSocket connection. The package does not interpret
// its messages.
//
// # Access
//
// All nodes have the same secret of at least 32 characters. The dialing node sends it as a bearer
// token, and the port compares it in constant time. GET /healthz and GET /metrics need no secret.
// Requests with an Origin header are rejected, because only web pages in browsers send one.
//
// An address with wss uses TLS 1.3. The port reads its certificate again for each handshake, so that
// a renewed one needs no restart. The dialing node verifies the certificate for the host of the
// address, with the authorities of Options.CA. An address with ws is for networks that the operator
// trusts: everyone who can read the network has the secret. A port with TLS dials no such address.
//
// # Dead links
//
// Both sides of a link send heartbeats. If nothing arrives for Options.Silence while Next waits, the
// link ends. So a suspended process and a divided network are noticed.
//
// # Errors
//
// Open checks the options before it binds the port. An [OptionError] names the key of the
// configuration, the cause and the next action. A [DialError] names the address and the cause.
//
// # Goroutines
//
// As in package listen; a dialed link has one more, which sends heartbeats and ends with the link.
package peer
