package economy

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// requests begin the work on a commit, whose subject is the verb.
var requests = []string{
	"Please work on this: %s", "Next: %s", "%s. Read the code before you change it.", "I need the following. %s",
	"%s\n\nRun the tests afterwards.",
}

// nudges are the requests of turns within the work on a commit.
var nudges = []string{"Go on.", "Continue with the next step.", "Looks fine, go on.", "And now the tests, please.", "Yes.",
	"Please check that once more.", "What is left? Do that next."}

// reports are the answers at the end of turns.
var reports = []string{
	"The change is made and the package compiles.", "This step is finished; the tests of the package ran.",
	"Done. The next step is the caller.", "I changed the function and looked at its callers.",
	"The file is read. I know the place to change.",
}

// The wishes of the user and the decisions of the model.
var (
	constraints = []string{
		"You must keep {name} in {path} compatible with version {number}.",
		"Never edit generated files below {folder}, and never touch {name}.",
		"Use only the standard library in {path}.",
		"Do not change the signature of {name}.",
		"The limit of {number} bytes in {path} must stay.",
		"Only {name} may write to {folder}, nothing else.",
		"Never run more than {number} requests against {folder} at once.",
		"Errors of {name} must always name the file {path}.",
	}
	decisions = []string{
		"Let us use {name} instead of a second map in {path}.",
		"I decided that {path} keeps its own copy of {name}, because locks cost {number} microseconds.",
		"We go with {number} entries for {name}.",
		"We agreed to move {name} out of {folder}.",
	}
	ownDecisions = []string{
		"I decided to keep {name} in {path} because its callers hold no lock.",
		"I chose a limit of {number} for {name} instead of none.",
		"I decided against a new type beside {name}, since {path} has one with {number} lines.",
	}
)

// singleCommands fail and are not repeated.
var singleCommands = []struct {
	script, output string
	exit           int
}{
	{"staticcheck ./...", "bash: staticcheck: command not found", 127},
	{"make docs FILE={path}", "make: *** No rule to make target 'docs'. Stop.", 2},
	{"golangci-lint run {path}", "Error: can't load config: unsupported version of the configuration", 3},
	{"git push origin HEAD:refs/for/{path}", "fatal: could not read from remote repository: access denied", 128},
	{"python3 tools/check.py {path}", "python3: can't open file 'tools/check.py': no such file", 2},
}

// forms are other forms of the words of causes.
var forms = map[string]string{
	"expected": "expecting", "entries": "entry", "received": "receive", "returned": "returning", "pointer": "pointers",
	"error": "errors", "order": "ordering", "keys": "key", "timeout": "timeouts", "waiting": "waited", "finish": "finishing",
	"checksum": "checksums", "mismatch": "mismatched", "copies": "copy", "argument": "arguments", "leaked": "leaking",
	"goroutines": "goroutine", "permission": "permissions", "widened": "widening", "interface": "interfaces",
}

// failureQuestion returns a question about a failed test, partly in other forms of its words. It names neither
// the line nor the whole name of the test.
func (w *writer) failureQuestion(test, cause string) string {
	file, rest, _ := strings.Cut(cause, ":")
	_, what, _ := strings.Cut(rest, ":")
	words := strings.Fields(what)
	for i, word := range words {
		if other, known := forms[strings.Trim(word, ":")]; known && w.IntN(3) > 0 {
			words[i] = other
		}
	}
	parts := capital.FindAllString(test, -1)
	return fmt.Sprintf("which failure of %s %s in %s was about %s", strings.ToLower(parts[1]), strings.ToLower(parts[2]),
		strings.TrimSuffix(file, "_test.go"), strings.Join(words, " "))
}

// capital matches the parts of a name in mixed capitals.
var capital = regexp.MustCompile(`[A-Z][a-z]+`)

// readQuestion returns a question about a declaration in a file.
func readQuestion(declared, name string) string {
	if strings.HasPrefix(declared, "(") { // a method
		_, declared, _ = strings.Cut(declared, ") ")
	}
	function, arguments, _ := strings.Cut(declared, "(")
	arguments, _, _ = strings.Cut(arguments, ")")
	return fmt.Sprintf("declaration of %s in %s with %s", function, path.Base(name), arguments)
}
