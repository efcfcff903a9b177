package permission

import (
	"fmt"
	"strings"

	"appserver/protocol"
)

// Profiles are permission profiles by name, with their members as they were written. They are compiled when they are
// selected, so a profile that nobody selects is not checked.
type Profiles map[string]map[string]any

// UnmarshalJSON reads a table of tables. Names with a colon are those of built-in profiles.
func (p *Profiles) UnmarshalJSON(b []byte) error {
	read := map[string]map[string]any{}
	if protocol.Unmarshal(b, &read) != nil {
		return fmt.Errorf("expected a table of permission profiles")
	}
	for name, profile := range read {
		if strings.HasPrefix(name, ":") {
			return fmt.Errorf("%s: names with a colon are those of built-in profiles", name)
		}
		if profile == nil {
			delete(read, name)
		}
	}
	*p = read
	return nil
}
