package workspace

import "appserver/platform/osfile"

// readRegular reads at most limit bytes of a regular file that is in none of the closed directories, by links or not.
// Errors do not name the path.
func readRegular(path string, limit int64, closed ...string) ([]byte, error) {
	return osfile.ReadRegular(path, osfile.Bounds{Max: limit, Closed: closed})
}
