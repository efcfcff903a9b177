// Package e2e tests the real program as clients use it: by pipes, sockets and files.
package e2e
