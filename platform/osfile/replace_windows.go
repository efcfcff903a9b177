//go:build !wine

package osfile

import "errors"

// replaceInTwoSteps fails: a crash between the steps would lose the file.
func replaceInTwoSteps(string, string) error { return errors.ErrUnsupported }
