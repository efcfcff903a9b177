package config

import (
	"slices"
	"strconv"
	"strings"
)

// refusal is a setting of the reference implementation that restricts and that this server cannot obey. A
// configuration with it is rejected, so that nobody relies on it.
type refusal struct {
	// path is the key; * is any name.
	path []string
	// restricts reports whether a value restricts.
	restricts func(value any) bool
	// problem states what is missing and the next action.
	problem string
}

var refusals = []refusal{
	{[]string{"profile"}, always,
		"profiles are not applied: move the settings of the profile to the top of the file, and remove this key"},
	{[]string{"experimental_thread_store_endpoint"}, always,
		"threads are stored on this machine or in the database of [store]: remove it"},
	{[]string{"features", "network_proxy"}, isOn, refusedFeature},
	{[]string{"features", "credential_masking"}, isOn, refusedFeature},
	{[]string{"features", "hosted_search_policy"}, isOn, refusedFeature},
	{[]string{"features", "skip_host_skill_discovery"}, isOn, refusedFeature},
	{[]string{"features", "write_stdin_approval"}, isOn, refusedFeature},
	{[]string{"features", "rollout_budget"}, isOn, refusedFeature},
	{[]string{"mcp_servers", "*", "environment_id"}, otherThan("local"),
		"MCP servers run on this machine only: remove it, or set enabled = false"},
	{[]string{"mcp_servers", "*", "experimental_environment"}, otherThan("local"),
		"MCP servers run on this machine only: remove it, or set enabled = false"},
	{[]string{"mcp_servers", "*", "tools", "*", "output_token_limit"}, always,
		"outputs of a single tool are not limited: use tool_output_token_limit, or remove it"},
}

const refusedFeature = "this server does not have the restriction: remove it, and use another program for work that " +
	"depends on it"

func always(any) bool { return true }

func otherThan(word string) func(any) bool { return func(value any) bool { return value != word } }

// isOn reports whether a feature is on: by true, or by a table without enabled = false.
func isOn(value any) bool {
	table, isTable := value.(map[string]any)
	return value == true || isTable && table["enabled"] != false
}

// refused calls problem for settings that restrict and cannot be obeyed.
func refused(root *node, problem func(n *node, path []string, format string, args ...any)) {
	for _, r := range refusals {
		root.each(r.path, nil, func(n *node, path []string) {
			if r.restricts(n.plain()) {
				problem(n, path, "%s", r.problem)
			}
		})
	}
	checkSkills(root, problem)
}

// checkSkills requires the rows that turn skills off to be whole.
func checkSkills(root *node, problem func(n *node, path []string, format string, args ...any)) {
	path := []string{"skills", "config"}
	n := root.find(path...)
	if n == nil {
		return
	}
	rows, isList := n.plain().([]any)
	for i, row := range rows {
		table, _ := row.(map[string]any)
		_, enabled := table["enabled"].(bool)
		if !enabled || !isText(table["path"]) || !isText(table["name"]) {
			problem(n, below(path, strconv.Itoa(i)), "expected a table with enabled = true or false, and the path or the name of a skill")
		}
	}
	if !isList {
		problem(n, path, "expected a list of tables")
	}
}

// isText reports whether a value is a string or is not set.
func isText(value any) bool {
	_, text := value.(string)
	return text || value == nil
}

// each calls found for each node at a path, in which * is any name.
func (n *node) each(path, at []string, found func(*node, []string)) {
	switch {
	case n == nil:
	case len(path) == 0:
		found(n, at)
	case path[0] == "*":
		for _, name := range sortedKeys(n.table) {
			n.table[name].each(path[1:], below(at, name), found)
		}
	case n.table != nil:
		n.table[path[0]].each(path[1:], below(at, path[0]), found)
	}
}

// The values of filters.
const (
	filterInclude = "include"
	filterExclude = "exclude"
)

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
