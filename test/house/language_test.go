package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxColumns is the maximum width of a line of hand-written Go. A tab counts as one.
	maxColumns = 120
	// maxMarkedShare is the share of doc comments that may match a marker of unclear language. Some
	// matches are correct English, so the limit is not zero.
	maxMarkedShare = 0.04
)

// markers match phrases that make a comment hard to read: clauses as subjects, pronouns as
// subjects, and verbs that are not terms of the field.
var markers = regexp.MustCompile(`(?i)(?:` + strings.Join([]string{
	`^(?:\w+ (?:is|are) )?(?:what|who|where|that (?:of|which)|those (?:of|that))\b`,
	`\b(?:what|who) \w+ (?:is|are|was|were|has|have)\b`,
	`\b(?:tells?|told|says?|said|telling|saying)\b`,
	`\b(?:that|those) (?:of|which|that)\b`,
	`\blets? (?:\w+ ){1,3}go\b|\b(?:goes|went|go|going) on\b|\b(?:comes?|came) to\b|\bstands? (?:for|in)\b`,
	`\b(?:is|are) (?-i:none)\b|\bnobody\b|\bwhoever\b|\bwhatever\b`,
	`\bwhere (?:there|it|that|one|none|they|the|a|an|nothing|no) (?:\w+ )?(?:is|are|has|have|was|were|can|cannot|may|must)\b`,
	`, too\b`,
	`\b(?:is|are) to be\b`,
}, "|") + `)`)

// clauseSubject matches a comment that defines its name by a clause. No comment may match.
var clauseSubject = regexp.MustCompile(`^(?:\w+ )?(?:is|are|has|have) (?:what|who|whoever|whatever)\b`)

// docComment is the doc comment of a declaration, a field or a package.
type docComment struct{ at, text string }

// docComments returns the doc comments of the program and its tests.
func docComments(t *houseTree) (list []docComment) {
	for _, s := range t.sources {
		if ast.IsGenerated(s.File) {
			continue
		}
		add := func(n ast.Node, groups ...*ast.CommentGroup) {
			for _, g := range groups {
				if g.Text() != "" {
					list = append(list, docComment{s.at(n), g.Text()})
				}
			}
		}
		add(s.Name, s.Doc)
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				add(n, n.Doc)
			case *ast.GenDecl:
				if n.Tok != token.IMPORT {
					add(n, n.Doc)
				}
			case *ast.TypeSpec:
				add(n, n.Doc, n.Comment)
			case *ast.ValueSpec:
				add(n, n.Doc, n.Comment)
			case *ast.Field:
				add(n, n.Doc, n.Comment)
			}
			return true
		})
	}
	return list
}

// marked returns the doc comments that match a marker.
func marked(list []docComment) (matching []docComment) {
	for _, c := range list {
		if markers.MatchString(strings.Join(strings.Fields(c.text), " ")) {
			matching = append(matching, c)
		}
	}
	return matching
}

func findUnclearComments(t *houseTree) (findings []string) {
	all := docComments(t)
	for _, c := range all {
		if clause := clauseSubject.FindString(c.text); clause != "" {
			findings = append(findings, fmt.Sprintf("%s: %q begins a comment: define the name by a noun", c.at, clause))
		}
	}
	matching := marked(all)
	if float64(len(matching)) <= maxMarkedShare*float64(len(all)) {
		return findings
	}
	for _, c := range matching {
		text := strings.Join(strings.Fields(c.text), " ")
		findings = append(findings,
			fmt.Sprintf("%s: %q in a comment: begin with a noun or a verb, and use the terms of docs/glossary.md", c.at,
				markers.FindString(text)))
	}
	return append(findings, fmt.Sprintf("%d of %d doc comments match a marker of unclear language; at most %.0f %% may",
		len(matching), len(all), 100*maxMarkedShare))
}

// adverbs may precede the verb of a function's comment.
var adverbs = strings.Fields(`also atomically durably first never only`)

// stateVerbs do not describe the effect of a function, or are not terms of the field.
var stateVerbs = strings.Fields(`is has was tells says knows goes stands`)

// clauseObjects match a verb whose object has no noun.
var clauseObjects = regexp.MustCompile(`^(?:returns|reports) (?:what|who|whoever|whatever|those|how|which)\b`)

// testFunction matches the names of functions that package testing calls. Their comments can begin
// with the promise that they check.
var testFunction = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)`)

// verbFault returns the fault of the comment of a function, or "". After the name, it demands a verb in
// the third person that states the effect or the result.
func verbFault(name, text string) string {
	words := strings.Fields(text)
	if words[0] != name {
		return "begin it with the name"
	}
	words = words[1:]
	if len(words) > 0 && slices.Contains(adverbs, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return "add a verb after the name"
	}
	verb := strings.TrimRight(words[0], ",.:;")
	if !strings.HasSuffix(verb, "s") || slices.Contains(stateVerbs, verb) {
		return fmt.Sprintf("replace %q by a verb in the third person, such as returns, reports or appends", verb)
	}
	if clause := clauseObjects.FindString(strings.Join(words, " ")); clause != "" {
		return fmt.Sprintf("%q: name the result by a noun", clause)
	}
	return ""
}

// findVerblessComments checks the comments of functions and of the methods of interfaces.
func findVerblessComments(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		if ast.IsGenerated(s.File) {
			continue
		}
		check := func(name *ast.Ident, doc *ast.CommentGroup) {
			if doc.Text() == "" {
				return
			}
			if fault := verbFault(name.Name, doc.Text()); fault != "" {
				findings = append(findings, fmt.Sprintf("%s: the comment of %s: %s", s.at(name), name.Name, fault))
			}
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if !s.isTest() || !testFunction.MatchString(n.Name.Name) {
					check(n.Name, n.Doc)
				}
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					if len(m.Names) > 0 {
						check(m.Names[0], m.Doc)
					}
				}
			}
			return true
		})
	}
	return findings
}

func findLongLines(t *houseTree) (findings []string) {
	for _, s := range t.sources {
		if ast.IsGenerated(s.File) {
			continue
		}
		texts := s.textLines()
		for i, line := range bytes.Split(s.text, []byte("\n")) {
			preformatted := bytes.HasPrefix(line, []byte("//\t"))
			if n := utf8.RuneCount(line); n > maxColumns && !texts[i+1] && !preformatted {
				findings = append(findings, fmt.Sprintf("%s:%d has %d columns, more than %d", s.path, i+1, n, maxColumns))
			}
		}
	}
	return findings
}

// minText is the total length of string literals on a line that exempts the line.
const minText = 50

// textLines returns the lines with long string literals, such as prompts and JSON. Split literals
// are hard to read and to search.
func (s *houseSource) textLines() map[int]bool {
	lines, lengths := map[int]bool{}, map[int]int{}
	ast.Inspect(s.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		first := s.fset.Position(lit.Pos()).Line
		lengths[first] += len(lit.Value)
		for i := range s.span(lit) {
			lines[first+i] = lines[first+i] || s.span(lit) > 1 || lengths[first] > minText
		}
		return true
	})
	return lines
}
