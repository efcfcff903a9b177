package main

import (
	"bytes"
	"fmt"
	"strings"

	"appserver/protocol"
)

// The method tables stand between these lines of the README.
const (
	tablesBegin = "<!-- methods: made from protocol.Methods by make generate -->"
	tablesEnd   = "<!-- end of methods -->"
)

// withTables is a README with the method tables as they are now. The rest of it
// stays as it is.
func withTables(readme []byte) ([]byte, error) {
	head, rest, begun := bytes.Cut(readme, []byte(tablesBegin))
	_, tail, ended := bytes.Cut(rest, []byte(tablesEnd))
	if !begun || !ended {
		return nil, fmt.Errorf("the README has no place for the method tables: add the lines %q and %q", tablesBegin, tablesEnd)
	}
	return fmt.Appendf(nil, "%s%s\n\n%s%s%s", head, tablesBegin, methodTables(), tablesEnd, tail), nil
}

// methodTables are the tables of package protocol in Markdown.
func methodTables() string {
	var requests, notifications, questions [][2]string
	for _, m := range protocol.Methods() {
		requests = append(requests, [2]string{m.Name, m.Doc})
	}
	for _, n := range protocol.Notifications() {
		notifications = append(notifications, [2]string{n.Method, n.Doc})
	}
	for _, r := range protocol.ServerRequests() {
		questions = append(questions, [2]string{r.Name, r.Doc})
	}
	return markdownTable("request of the client", "what it does", requests) +
		markdownTable("notification of the server", "what it tells", notifications) +
		markdownTable("request of the server", "what it asks", questions)
}

// markdownTable has a blank line after it.
func markdownTable(names, docs string, rows [][2]string) string {
	var table strings.Builder
	fmt.Fprintf(&table, "| %s | %s |\n| --- | --- |\n", names, docs)
	for _, row := range rows {
		fmt.Fprintf(&table, "| `%s` | %s |\n", row[0], strings.ReplaceAll(row[1], "|", `\|`))
	}
	table.WriteString("\n")
	return table.String()
}
