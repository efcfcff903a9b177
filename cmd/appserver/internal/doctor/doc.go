// Package doctor examines whether a server works on this machine, and states how to mend what does not. The command
// appserver doctor prints its report.
//
// [Checks] returns the checks of a home, and [Run] runs them at once and returns a [Report]. A check returns results:
// a stable name, a status, a detail, and an action unless all is well. It changes nothing but for a file that it
// makes and removes in the home, and the programs of MCP servers that it starts and ends.
//
// # Secrets and hostile texts
//
// Details have texts of others: of configuration files, providers and MCP servers. [Run] removes the secrets that
// [app.Inspection.Secrets] lists from all texts, bounds their length, and replaces characters that control a terminal.
//
// # Goroutines
//
// Each check runs in a goroutine. A check that outlasts the limit is reported and left behind; the process ends soon.
//
// # Decisions
//
// A provider is examined by a [Prober], so that another way to examine one has one place. The present one lists the
// models of the provider as the server does: with its key or login, its proxy and its certificates.
package doctor
