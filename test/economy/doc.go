// Package economy measures what automatic edits of the context save, on sessions that are generated from git
// histories and replayed through the core. docs/economy.md says how each figure is made.
package economy
