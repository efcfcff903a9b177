// Package offline is a model provider without a network, for demonstrations and for the tests of
// clients. [Provider] describes its answers, and [Script] the file that sets them.
package offline
