// Package web serves the workbench: a page for browsers, and its WebSocket, on a port of the
// loopback interface. The clients of the page are ordinary clients of package server/listen.
//
// # Requests
//
//	GET  /          index.html, never stored by the browser
//	GET  /assets/…  the other files; a name with a hash of the content may be stored forever
//	POST /session   {"ticket": "…"}, answered by {"token": "…"}
//	GET  /session   204 if the bearer token in Authorization is valid, or 401
//	POST /ticket    writes a new ticket file; 204 without content
//	GET  /ws        the WebSocket, with the subprotocols appserver.v1 and bearer.TOKEN
//
// # Access
//
// Every user and program of the machine, and every page in a browser, can send requests to the
// port. Each request must have the address of the page as Host, so that a foreign name for the
// address (DNS rebinding) is rejected. If a request has an Origin, it must be the page's own.
//
// A ticket is a secret in a file of mode 0600 below the home. The browser opens this file and is
// redirected to the page, with the ticket in the fragment of the URL. So the secret is in no list
// of processes, in no log and in no request line. A ticket ends when it is used, after a minute,
// after five wrong tickets, and when there is a newer one. Its file is then removed.
//
// The page exchanges the ticket for the token of this process, and keeps it for one tab. There are
// no cookies, because all ports of a host share them.
//
// # Decisions
//
// POST /ticket needs no secret. Its caller gets nothing from it, because only the user of the
// server can read the file. So no secret is on disk for longer than a minute, and a command can
// open a second tab. Other users can end a ticket this way; five wrong tickets do the same.
//
// [RequestTicket] removes the ticket file before its request. A program that took over the port of
// a dead server cannot write a new one, so no browser is sent there.
package web
