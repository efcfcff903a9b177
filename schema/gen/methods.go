package main

import (
	"bytes"
	"fmt"
	"strings"

	"appserver/protocol"
)

// The method tables are between these lines of docs/methods.md.
const (
	tablesBegin = "<!-- methods: made from protocol.Methods by make generate -->"
	tablesEnd   = "<!-- end of methods -->"
)

// withTables returns a document with the current method tables. The rest of it is unchanged.
func withTables(document []byte) ([]byte, error) {
	head, rest, begun := bytes.Cut(document, []byte(tablesBegin))
	_, tail, ended := bytes.Cut(rest, []byte(tablesEnd))
	if !begun || !ended {
		return nil, fmt.Errorf("there is no place for the method tables: add the lines %q and %q", tablesBegin, tablesEnd)
	}
	return fmt.Appendf(nil, "%s%s\n\n%s%s%s", head, tablesBegin, methodTables(), tablesEnd, tail), nil
}

// methodTables returns the tables of package protocol in Markdown.
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
	return markdownTable("request of the client", "effect", requests) +
		markdownTable("notification of the server", "meaning", notifications) +
		markdownTable("request of the server", "question", questions)
}

// markdownTable returns a table and a blank line.
func markdownTable(names, docs string, rows [][2]string) string {
	var table strings.Builder
	fmt.Fprintf(&table, "| %s | %s |\n| --- | --- |\n", names, docs)
	for _, row := range rows {
		fmt.Fprintf(&table, "| `%s` | %s |\n", row[0], strings.ReplaceAll(row[1], "|", `\|`))
	}
	table.WriteString("\n")
	return table.String()
}
