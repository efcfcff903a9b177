// Package e2e tests the binary as clients use it: through its pipes, sockets and files.
package e2e
