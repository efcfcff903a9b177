// Package interchange compares the binary with the reference implementation, and runs other people's clients
// against it.
// Most tests have the build tag reference; .ci/conformance sets what they need.
package interchange
