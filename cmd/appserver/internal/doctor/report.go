package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/termtext"
)

// Status is the outcome of a check.
type Status string

// The statuses. Only a problem prevents work.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Problem Status = "problem"
)

// Result is the outcome of a check of one thing.
type Result struct {
	// Name is stable, for scripts: the name of the check, or the check and a part of it, such as "home.writable".
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail describes the finding. Action is the next step of the user, or empty.
	Detail string `json:"detail"`
	Action string `json:"action,omitempty"`
}

// Report has all results, in the order of the checks.
type Report struct {
	// OK is true if no result is a problem.
	OK      bool     `json:"ok"`
	Results []Result `json:"checks"`
}

// Check examines one thing. Run obeys the context, which ends before the limit of the report.
type Check struct {
	Name string
	Run  func(ctx context.Context) []Result
}

// margin is the time between the end of the context of checks and the end of the report.
const margin = time.Second

// maxText bounds the texts of a result, in bytes.
const maxText = 1000

// Run runs checks at once, for at most the limit. The texts of its report have no secrets.
func Run(ctx context.Context, checks []Check, limit time.Duration, secrets []string) Report {
	end, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx, cancel = context.WithTimeout(end, limit-margin)
	defer cancel()
	found := make([]chan []Result, len(checks))
	for i, c := range checks {
		found[i] = make(chan []Result, 1)
		go func() { found[i] <- c.results(ctx) }()
	}
	r := Report{OK: true}
	for i, c := range checks {
		results, done := await(end, found[i])
		if !done {
			results = []Result{warn(c.Name, "try again; if it stays so, what it examines hangs",
				"the check took more than %s", limit)}
		}
		for _, one := range results {
			one.Name = clean(one.Name, secrets)
			one.Detail, one.Action = clean(one.Detail, secrets), clean(one.Action, secrets)
			r.OK = r.OK && one.Status != Problem
			r.Results = append(r.Results, one)
		}
	}
	return r
}

// await returns the results of a check, unless the context ends before them.
func await(end context.Context, found <-chan []Result) (results []Result, done bool) {
	select {
	case results = <-found:
		return results, true
	case <-end.Done():
	}
	select { // both may have been ready
	case results = <-found:
		return results, true
	default:
		return nil, false
	}
}

// results runs a check. A panic is a problem of this program.
func (c Check) results(ctx context.Context) (results []Result) {
	defer func() {
		if cause := recover(); cause != nil {
			results = []Result{warn(c.Name, "report this as an error of appserver", "the check failed: %v", cause)}
		}
	}()
	return c.Run(ctx)
}

// clean returns a text as one line without secrets, bounded, and without characters that control a terminal.
func clean(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	text = termtext.Plain(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// The width of the narrowest column of details, and of the widest column of names.
const (
	minWidth = 50
	maxName  = 30
)

// Text returns the report for people, with lines of at most the width if that leaves enough for the details.
func (r Report) Text(width int) string {
	names := 0
	for _, one := range r.Results {
		names = max(names, min(termtext.Columns(one.Name), maxName))
	}
	indent := len(Problem) + 2 + names + 2
	width = max(width-indent, minWidth)
	var b strings.Builder
	for _, one := range r.Results {
		fmt.Fprintf(&b, "%s  %s  ", termtext.Padded(string(one.Status), len(Problem), false),
			termtext.Padded(termtext.FirstColumns(one.Name, names), names, false))
		lines := termtext.Wrap(one.Detail, width)
		if one.Action != "" {
			lead := "-> "
			for _, line := range termtext.Wrap(one.Action, width-len(lead)) {
				lines, lead = append(lines, lead+line), "   "
			}
		}
		for i, line := range lines {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", indent))
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary())
	return b.String()
}

func (r Report) summary() string {
	count := func(s Status) int {
		return len(slices.DeleteFunc(slices.Clone(r.Results), func(one Result) bool { return one.Status != s }))
	}
	problems, warnings := count(Problem), count(Warning)
	switch {
	case problems > 0:
		return fmt.Sprintf("%s, %s. The server does not work as it should until the problems are solved.",
			termtext.Counted(problems, "problem"), termtext.Counted(warnings, "warning"))
	case warnings > 0:
		return fmt.Sprintf("No problems, %s.", termtext.Counted(warnings, "warning"))
	}
	return "No problems."
}

func ok(name, format string, args ...any) Result {
	return Result{name, OK, fmt.Sprintf(format, args...), ""}
}

func warn(name, action, format string, args ...any) Result {
	return Result{name, Warning, fmt.Sprintf(format, args...), action}
}

func problem(name, action, format string, args ...any) Result {
	return Result{name, Problem, fmt.Sprintf(format, args...), action}
}
