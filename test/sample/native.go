//go:build !posix

package sample

const posix = false
