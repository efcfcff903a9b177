package workspace

import (
	"cmp"
	"os"
	"strings"
	"time"
)

// Today returns the local date at now, YYYY-MM-DD, and the local zone.
func Today(now time.Time) (date, zone string) {
	return now.Local().Format(time.DateOnly), localZone()
}

// localZone returns the name of the local time zone, such as Europe/Berlin, or UTC if it is not known.
func localZone() string {
	link, _ := os.Readlink("/etc/localtime") // "" where it is no link
	return zoneName(time.Local.String(), link, func() string {
		text, _ := readRegular("/etc/timezone", 256)
		return string(text)
	})
}

// zoneName returns the name that the environment chose, else the target of
// /etc/localtime, else the text of /etc/timezone. Local is Go's word for a zone
// without a name.
func zoneName(chosen, link string, text func() string) string {
	for _, candidate := range []string{chosen, link} {
		if name := zoneIn(candidate); name != "" {
			return name
		}
	}
	return cmp.Or(zoneIn(strings.TrimSpace(text())), "UTC")
}

// zoneIn returns the zone that a name or a path names, or "".
func zoneIn(candidate string) string {
	_, name, isPath := strings.Cut(candidate, "zoneinfo/")
	if !isPath {
		name = candidate
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")
	if name == "" || name == "Local" || name[0] == '/' || name[0] == '.' {
		return ""
	}
	return name
}
