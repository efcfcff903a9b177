// Package account has the login of the user at the vendor of models: an API key, or the tokens of a ChatGPT account.
//
// The reference implementation has the same places and forms, so a login of one program serves the other. A [Store]
// keeps the login in auth.json of the home, in the keyring of the system, or in memory. An [Account] signs in and out,
// refreshes tokens, and authorizes requests.
//
// # Trust
//
//   - Keys and tokens go to hosts of the vendor over https only. [Hosts] names others that the user has permitted, and
//     the proxies that may pass requests on.
//   - No redirect is followed. Responses are bounded, and their texts are cleaned before they are shown.
//   - No error has a key or a token.
//   - A file that cannot be read is never replaced or removed. Members that this program does not know survive.
//
// # Locks
//
// auth.lock and auth.json.lock are the locks of the reference implementation for changes of the file. They are held
// while the file is read, changed and replaced, and never during a request. A further lock of this program is held
// during a refresh, so that its processes use each refresh token once. The reference implementation has no such lock.
// If it refreshes at the same time, the later request fails; then the tokens that the other program has stored count.
//
// # Goroutines
//
// A refresh has one, which ends after refreshTime at most. It continues if the request that needs it is cancelled,
// because the issuer may have replaced the tokens already. A login with a browser or a device code has one that waits
// for the user, the time limit or its cancellation.
package account
