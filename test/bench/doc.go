// Package bench measures the binary, alone and beside the reference implementation.
package bench
