// Package providerkey keeps the keys of model providers that the user has typed: in appserver-keys.json of the home, in
// the keyring of the system, or in memory.
//
// # Trust
//
//   - A key belongs to the name of its provider and to the origin of its address: scheme, host and port. If the address
//     of the provider has another origin later, [Store.Key] returns an [UnusableError] and no key.
//   - No error has a key. A document that cannot be read is never replaced or removed. Members that this program does
//     not know survive.
//
// # Decisions
//
// One document has the keys of all providers, so that a server that starts knows what it removes from rollouts. Each
// request reads the document, so that servers of one home use a key that another process has stored.
package providerkey
