// Package sandbox tests what confined commands can reach.
package sandbox
