//go:build !linux && !darwin

package osfile

import "errors"

// IdentityOf fails, because the times of birth are read in another way here.
func IdentityOf(string) (Identity, error) { return Identity{}, errors.ErrUnsupported }
