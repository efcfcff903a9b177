package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/pure/execrule"
	"appserver/platform/osfile"
)

const (
	// maxRuleFile bounds a file with rules, in bytes, and maxRuleFiles the files of a folder. The files can come with
	// the code of a project.
	maxRuleFile  = 256 << 10
	maxRuleFiles = 100
	// maxNesting bounds the brackets in a file that are open at once: the parser recurses.
	maxNesting = 100
)

// CommandRules returns the rules for commands in the .rules files of a folder, in the order of their names. There is
// a warning for each file, with the statements that have no effect. A file that cannot be read has no rules. The
// files are in one of the folders within when all links are followed, or anywhere if there is none.
func CommandRules(folder string, within ...string) (rules core.CommandRules, warnings []string) {
	names, err := ruleFiles(folder)
	if err != nil {
		return nil, []string{fmt.Sprintf("%s cannot be read, so no rule in it protects here: %v", folder, osfile.Reason(err))}
	}
	if len(names) > maxRuleFiles {
		warnings = append(warnings, fmt.Sprintf("%s has more than %d files with rules. Only the first %d protect here.",
			folder, maxRuleFiles, maxRuleFiles))
		names = names[:maxRuleFiles]
	}
	for _, name := range names {
		found, warning := readRules(filepath.Join(folder, name), within)
		rules, warnings = append(rules, found...), append(warnings, warning)
	}
	return rules, warnings
}

// ruleFiles returns the names of the files with rules in a folder, which may not exist.
func ruleFiles(folder string) (names []string, err error) {
	info, err := os.Stat(folder)
	if osNotExist(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(20 * maxRuleFiles)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".rules" && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	if len(entries) == 0 {
		return nil, nil
	}
	return names, err
}

func osNotExist(err error) bool { return err != nil && os.IsNotExist(err) }

func readRules(path string, within []string) (rules core.CommandRules, warning string) {
	text, err := osfile.ReadRegular(path, osfile.Bounds{Max: maxRuleFile + 1, Within: within})
	switch {
	case err == nil && len(text) > maxRuleFile:
		err = fmt.Errorf("it is larger than %d bytes", maxRuleFile)
	case err == nil && nesting(text) > maxNesting:
		err = fmt.Errorf("it is nested too deeply")
	}
	if err != nil {
		return nil, fmt.Sprintf("%s: the file cannot be read, so its rules do not protect here: %v", path, err)
	}
	rules, problems := execrule.Parse(path, text)
	return rules, ruleWarning(path, rules, problems)
}

// maxNamedProblems bounds the statements that a warning names.
const maxNamedProblems = 5

// ruleWarning describes the effect of a file with rules.
func ruleWarning(path string, rules core.CommandRules, problems []execrule.Problem) string {
	restrict := 0
	for _, r := range rules {
		if r.Decision != core.RuleAllows {
			restrict++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: rules for commands protect in part here: %d with the decision forbidden or prompt are obeyed "+
		"for commands that the model starts, and not for input to running commands; %d with the decision allow have no effect.",
		path, restrict, len(rules)-restrict)
	for i, p := range problems {
		if i == maxNamedProblems {
			fmt.Fprintf(&b, " %d more statements have no effect and do not protect.", len(problems)-i)
			break
		}
		fmt.Fprintf(&b, " %s:%d does not protect: %s.", path, p.Line, p.Text)
	}
	return b.String()
}

// nesting returns the most brackets that are open at once, or more.
func nesting(text []byte) (most int) {
	open := 0
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// HookFiles returns the files below a folder with configuration that have hooks.
func HookFiles(folder string) (found []string) {
	for _, pattern := range []string{"hooks.json", "plugins/cache/*/*/*/hooks/hooks.json",
		"plugins/cache/*/*/*/hooks.json"} {
		names, err := filepath.Glob(filepath.Join(globQuoted(folder), pattern))
		if err == nil {
			found = append(found, names...)
		}
	}
	return slices.DeleteFunc(found, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.Mode().Type() == fs.ModeDir
	})
}

// globQuoted returns a path as a pattern that matches it alone.
func globQuoted(path string) string {
	if os.PathSeparator == '\\' {
		return path // Glob has no escapes on Windows
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
