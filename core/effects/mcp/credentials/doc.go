// Package credentials stores the logins at MCP servers: in a file of the home, or in the keyring of the
// system.
//
// The reference implementation has the same places and forms, so a login of one program serves the other.
// [Key] names a login by the name and the URL of its server. A server with the same name and another URL has
// another login.
//
// [Store.Lock] keeps other processes from refreshing the same login.
package credentials
