package config

import (
	"maps"
	"slices"
	"strings"
)

// The values of filters.
const (
	filterInclude = "include"
	filterExclude = "exclude"
)

// filtered returns the patterns of names to exclude and to include, those of the filters as well.
func (p *ShellEnvironmentPolicy) filtered() (excluded, included []string) {
	excluded, included = slices.Clone(p.Exclude), slices.Clone(p.IncludeOnly)
	for _, pattern := range slices.Sorted(maps.Keys(p.Filters)) {
		if p.Filters[pattern] == filterInclude {
			included = append(included, pattern)
		} else {
			excluded = append(excluded, pattern)
		}
	}
	return excluded, included
}

// checkFilters reports filters with an unknown value, patterns that differ in case only, and filters beside the lists
// in one layer, as the reference implementation does.
func (c *Config) checkFilters(d *decoder) {
	path := []string{"shell_environment_policy", "filters"}
	filters := c.root.find(path...)
	if filters == nil {
		return
	}
	seen := map[string]string{}
	for _, pattern := range sortedKeys(filters.table) {
		at := append(slices.Clone(path), pattern)
		n, lower := filters.table[pattern], strings.ToLower(pattern)
		if value := c.ShellEnvironmentPolicy.Filters[pattern]; value != filterInclude && value != filterExclude {
			d.problem(n, at, "expected include or exclude")
		}
		if other, ok := seen[lower]; ok {
			d.problem(n, at, "the pattern is there twice, as %s: keep one", other)
		}
		seen[lower] = pattern
		for _, list := range []string{"exclude", "include_only"} {
			if l := c.root.find(path[0], list); l != nil && l.position.layer == n.position.layer {
				d.problem(n, at, "filters cannot be mixed with %s: write its patterns as filters", list)
			}
		}
	}
}
