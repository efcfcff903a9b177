// Package interchange compares the server with the reference implementation, and runs other
// people's clients. Most tests have the build tag reference; .ci/conformance sets their variables.
package interchange
