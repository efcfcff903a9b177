package digest

import (
	"slices"
	"strings"
)

const (
	// shortScript and shortCause are the lengths of a script and of a cause in an extract without room, in bytes.
	shortScript = 45
	shortCause  = 80
)

// byOutcome returns the commands whose last run failed, and the others.
func (g *gathering) byOutcome() (failed, others []*execution) {
	for _, run := range g.commands {
		if run.failed() {
			failed = append(failed, run)
		} else {
			others = append(others, run)
		}
	}
	return failed, others
}

func entriesOf(runs []*execution) []string {
	entries := make([]string, len(runs))
	for i, run := range runs {
		entries[i] = run.text()
	}
	return entries
}

// shortFailures returns failed commands with shortened scripts and causes.
func shortFailures(runs []*execution) (entries []string) {
	for _, run := range runs {
		short := *run
		short.entry, short.cause = firstBytes(run.entry, shortScript), firstBytes(run.cause, shortCause)
		entries = append(entries, short.text())
	}
	return entries
}

// shortCommands returns the last command of each program with its first argument, shortened.
func shortCommands(runs []*execution) (entries []string) {
	seen := map[string]bool{}
	for _, run := range slices.Backward(runs) {
		call := callIn(strings.Fields(run.entry))
		if call != "" && seen[call] {
			continue
		}
		seen[call] = true
		entries = append(entries, firstBytes(run.text(), max(shortScript, len(call))))
	}
	slices.Reverse(entries)
	return entries
}

// byFolder returns files with those of one folder in one entry: "core/pure/digest/{cut.go, mention.go}". Files whose
// names occur in several folders stay alone.
func byFolder(files []string) (entries []string) {
	folders, names := map[string][]string{}, map[string]int{}
	for _, file := range files {
		names[lastPart(file)]++
	}
	var order []string
	for _, file := range files {
		name := lastPart(file)
		folder, found := strings.CutSuffix(file, name)
		if !found || folder == "" || names[name] > 1 {
			folder, name = file, ""
		}
		if folders[folder] == nil {
			order = append(order, folder)
		}
		folders[folder] = append(folders[folder], name)
	}
	for _, folder := range order {
		if list := folders[folder]; list[0] == "" {
			entries = append(entries, folder)
		} else {
			entries = append(entries, inFolder(folder, list)...)
		}
	}
	return entries
}

// inFolder returns the files of a folder in entries that are not much longer than entryLimit.
func inFolder(folder string, names []string) (entries []string) {
	if len(names) == 1 {
		return []string{folder + names[0]}
	}
	entry := folder + "{" + names[0]
	for _, name := range names[1:] {
		if len(entry) > entryLimit {
			entries = append(entries, entry+"}")
			entry = folder + "{" + name
			continue
		}
		entry += ", " + name
	}
	return append(entries, entry+"}")
}
