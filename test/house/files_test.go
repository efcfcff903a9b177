package house

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"appserver/test/apptest"
)

// requiredFiles returns the files that visitors and builds expect.
func requiredFiles() []string {
	return []string{
		".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
		"Makefile", "README.md", "go.mod", "go.sum",
	}
}

// topFolders returns the only folders at the top level.
func topFolders() []string {
	return []string{".ci", ".github", "cmd", "core", "deploy", "docs", "editors", "platform", "protocol", "rollout", "schema", "server",
		"test", "web"}
}

func findTopLevel(t *houseTree) (findings []string) {
	for _, name := range topLevel(t) {
		if !slices.Contains(requiredFiles(), name) && !slices.Contains(topFolders(), name) {
			findings = append(findings,
				fmt.Sprintf("%s is not allowed at the top level: move it, or add it to .gitignore", name))
		}
	}
	return findings
}

func topLevel(t *houseTree) []string {
	names := map[string]bool{}
	for file := range t.files {
		top, _, _ := strings.Cut(file, "/")
		names[top] = true
	}
	return apptest.SortedKeys(names)
}

func findDocuments(t *houseTree) (findings []string) {
	for _, name := range requiredFiles() {
		if len(bytes.TrimSpace(t.files[name])) == 0 {
			findings = append(findings, fmt.Sprintf("%s is missing or empty", name))
		}
	}
	return findings
}

// findMakeTargets finds targets that a top-level document names and the Makefile lacks.
func findMakeTargets(t *houseTree) (findings []string) {
	named := regexp.MustCompile("`make ([a-z0-9-]+)")
	for _, file := range apptest.SortedKeys(t.files) {
		if strings.Contains(file, "/") || !strings.HasSuffix(file, ".md") {
			continue
		}
		for _, match := range named.FindAllSubmatch(t.files[file], -1) {
			if !regexp.MustCompile(`(?m)^` + string(match[1]) + `:`).Match(t.files["Makefile"]) {
				findings = append(findings, fmt.Sprintf("%s names make %s, which the Makefile does not have", file, match[1]))
			}
		}
	}
	return findings
}

// findLinks follows the links of documents to files of the repository.
func findLinks(t *houseTree) (findings []string) {
	link := regexp.MustCompile(`\]\(([^):#]+)[^)]*\)`)
	for _, file := range apptest.SortedKeys(t.files) {
		if path.Ext(file) != ".md" {
			continue
		}
		for _, match := range link.FindAllSubmatch(t.files[file], -1) {
			target := path.Join(path.Dir(file), string(match[1]))
			if !bytes.Contains(match[0], []byte("://")) && !t.has(target) {
				findings = append(findings, fmt.Sprintf("%s links to %s, which does not exist", file, target))
			}
		}
	}
	return findings
}

// has reports whether a file exists, or a folder with files.
func (t *houseTree) has(name string) bool {
	if _, ok := t.files[name]; ok {
		return true
	}
	return slices.ContainsFunc(apptest.SortedKeys(t.files),
		func(file string) bool { return strings.HasPrefix(file, name+"/") })
}

// workplaces returns folders of the machines on which the program was written. They are written in two
// halves, so that the rule does not find this file.
func workplaces() []string { return []string{"/wor" + "k/", "/tmp" + "/peer"} }

func findWorkplace(t *houseTree) (findings []string) {
	words := make([]string, 0, len(workplaces()))
	for _, w := range workplaces() {
		words = append(words, regexp.QuoteMeta(w))
	}
	// A match inside a longer path is another folder.
	pattern := regexp.MustCompile(`(?m)(?:^|[^\w.~-])(` + strings.Join(words, "|") + `)`)
	for _, file := range apptest.SortedKeys(t.files) {
		for _, at := range pattern.FindAllSubmatchIndex(t.files[file], -1) {
			line := 1 + bytes.Count(t.files[file][:at[2]], []byte("\n"))
			findings = append(findings,
				fmt.Sprintf("%s:%d: %s is a folder of one machine: use another path", file, line, t.files[file][at[2]:at[3]]))
		}
	}
	return findings
}
