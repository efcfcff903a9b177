package providerkey

import "fmt"

// UnusableError means that a stored key is not sent, until the user types it again.
type UnusableError struct{ reason, provider string }

// Error returns the reason and the next action.
func (e *UnusableError) Error() string {
	return fmt.Sprintf("%s: %s", e.reason, Advice(e.provider))
}

// NeedsUser reports that another request fails in the same way.
func (e *UnusableError) NeedsUser() bool { return true }

// Advice returns the commands and methods that store or remove the key of a provider.
func Advice(provider string) string {
	name := shown(provider)
	return fmt.Sprintf("type it again with `appserver login --provider %s` or modelProvider/key/write, or remove it with "+
		"`appserver logout --provider %s` or modelProvider/key/delete", name, name)
}

// OpenError means that a key was not stored, because requests to the provider are not encrypted.
type OpenError struct{ Origin Origin }

// Error returns the reason.
func (e *OpenError) Error() string {
	return fmt.Sprintf("the key would be sent to %s without encryption, and others in the network could read it: use an "+
		"address with https", e.Origin)
}
