// Package posix has calls of POSIX systems for tests. On Windows they return errors.ErrUnsupported, so that
// the other tests of a package run there.
package posix
