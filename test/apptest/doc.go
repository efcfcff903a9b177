// Package apptest has the helpers that the tests in test share: a client of the server, fake model
// providers and MCP servers, process trees, and a cached build of the server.
package apptest
