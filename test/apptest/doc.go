// Package apptest has what the tests below test share: a client of the server, providers and
// other programs that behave as scripts say, and the server itself, which it builds.
package apptest
