// Package web serves the workbench: a page for browsers, and its WebSocket, on a port of the
// loopback interface. The clients of the page are ordinary clients of package server/listen.
//
// # Requests
//
//	GET    /           index.html, never stored by the browser
//	GET    /assets/…   the other files; a name with a hash of the content may be stored forever
//	POST   /session    {"ticket": "…"} or the answer to a challenge, answered by {"token": "…"}
//	GET    /session    204 if the bearer token in Authorization is valid, or 401
//	POST   /ticket     writes a new ticket file; 204 without content
//	POST   /challenge  a text that a remembered browser signs, and the proof of the server
//	GET    /devices    the remembered browsers; the token is required
//	POST   /devices    remembers the browser of the token
//	DELETE /devices    forgets a browser
//	GET    /ws         the WebSocket, with the subprotocols appserver.v1 and bearer.TOKEN
//
// # Access
//
// Every user and program of the machine, and every page in a browser, can send requests to the
// port. Each request must have a name of the loopback interface as Host, so that a foreign name for the
// address (DNS rebinding) is rejected. If a request has an Origin, it must be http:// and this Host.
//
// A ticket is a secret in a file of mode 0600 below the home. The browser opens this file and is
// redirected to the page, with the ticket in the fragment of the URL; or a command of the user reads the
// file and prints this URL. So the secret is in no list of processes, in no log and in no request line. A
// ticket ends when it is used, after its [Use.Life], after five wrong tickets, and when there is a newer
// one. Its file is then removed.
//
// The page exchanges the ticket for a token of this process, and keeps it for one tab. There are
// no cookies, because all ports of a host share them.
//
// # Remembered browsers
//
// A browser with a session sends its public key, which [Devices] lists. Later it opens sessions by
// signatures of challenges. Scripts cannot read the private key, so a program that listens at the port
// after this server can use the key only while its own page is open. The signed text has the address that
// this server listens on. A program at the address of the browser therefore cannot pass on a challenge of
// this server, which has to be at another port then. Only the exact address counts: another program can
// listen at the same port of ::1, which localhost names as well, and at the near end of a tunnel.
//
// The servers of a home have a key as well. Before a page of a remembered browser connects, the server signs its
// own address and a random text of the page. So an open page sends nothing to a program that took over the port.
//
// Each session knows its device. Another process may revoke the device at any time, so each request with a
// token reads the file of devices, and a timer does so while a client of a device is connected.
//
// # Decisions
//
// Host may have any port. A browser sends another port than that of the server only if something passes
// the connection on, such as ssh -L; pages of other ports are rejected by their Origin, which a page cannot
// choose. Programs that are no browsers could always send the right Host.
//
// POST /ticket needs no secret. Its caller gets nothing from it, because only the user of the
// server can read the file. So no secret is on disk for longer than the life of a ticket, and a command can
// open a second tab. Other users can end a ticket this way; five wrong tickets do the same.
//
// [RequestTickets] removes the ticket file before its request. A program that took over the port of
// a dead server cannot write a new one, so no browser is sent there, and no address of it is printed.
//
// index.html names its files with a random folder for each process, and requests for service workers get one
// that removes itself. Otherwise a program that listened at the fixed port before could leave scripts in the
// browser, which would act as the page of this server.
package web
