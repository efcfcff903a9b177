package house

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
)

// Size limits of TypeScript without tests, in lines. Functions include the elements that components return.
const (
	scriptFunctionMax = 60
	scriptFileMax     = 300
)

// scriptFunctionSizes returns the functions of the page and of the extension. A function in another one counts for
// both.
func scriptFunctionSizes(t *houseTree) (list sizes) {
	for _, s := range t.productScripts() {
		for _, f := range s.functions() {
			list = append(list, sized{strings.TrimSpace(fmt.Sprintf("%s:%d %s", s.path, f.first, f.name)), f.last - f.first + 1})
		}
	}
	return list
}

func scriptFileSizes(t *houseTree) (list sizes) {
	for _, s := range t.productScripts() {
		list = append(list, sized{s.path, len(s.lines)})
	}
	return list
}

func findLongScriptFunctions(t *houseTree) []string {
	return scriptFunctionSizes(t).over(scriptFunctionMax, "make a part of it a component, a hook or a function of its own")
}

func findLongScripts(t *houseTree) []string {
	return scriptFileSizes(t).over(scriptFileMax, "move a part with one purpose to a file of its own")
}

// findLongScriptLines applies the limit and the exemption of Go: a line with long string literals may be longer. Tests
// have the same limit.
func findLongScriptLines(t *houseTree) (findings []string) {
	for _, s := range t.scripts {
		texts := s.textLines()
		for i, line := range s.lines {
			if n := utf8.RuneCount(line); n > maxColumns && !texts[i+1] {
				findings = append(findings, fmt.Sprintf("%s:%d has %d columns, more than %d", s.path, i+1, n, maxColumns))
			}
		}
	}
	return findings
}

// textLines returns the lines on which string literals, the text of elements among them, have more than minText
// characters, and the lines of templates with several lines.
func (s *script) textLines() map[int]bool {
	lengths, lines := map[int]int{}, map[int]bool{}
	add := func(line int, text string) {
		lengths[line] += utf8.RuneCountInString(text)
		lines[line] = lengths[line] > minText
	}
	inspectScript(s.program, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StringLiteral:
			add(s.line(n.Idx), n.Value.String())
		case *ast.RegExpLiteral:
			add(s.line(n.Idx), n.Literal)
		case *ast.TemplateLiteral:
			for _, part := range n.Elements {
				add(s.line(n.OpenQuote), part.Literal)
			}
		}
		return true
	})
	return lines
}

// minScriptDocumented is the share of exported names of TypeScript that have a comment.
const minScriptDocumented = minDocumented

// findScriptDocs finds exported names without a comment. Exports begin in the first column, because no module is
// nested.
func findScriptDocs(t *houseTree) (findings []string) {
	all := 0
	for _, s := range t.productScripts() {
		for i, line := range s.lines {
			if name := exportedScriptName(line); name != "" {
				all++
				if !documentedLine(s.lines, i) {
					findings = append(findings, fmt.Sprintf("%s:%d: %s is exported and has no comment /** … */", s.path, i+1, name))
				}
			}
		}
	}
	bare := len(findings)
	if float64(all-bare) >= minScriptDocumented*float64(all) {
		return nil
	}
	return append(findings, fmt.Sprintf("%d of %d exported names of TypeScript have no comment; at most %.0f %% may",
		bare, all, 100*(1-minScriptDocumented)))
}

// exportedScriptName returns the name that a line exports by its declaration, or "".
func exportedScriptName(line []byte) string {
	words := strings.FieldsFunc(string(line), func(r rune) bool { return !strings.ContainsRune("_$", r) && !isWord(r) })
	if len(words) < 3 || !bytes.HasPrefix(line, []byte("export ")) {
		return ""
	}
	for i, word := range words[1 : len(words)-1] {
		switch word {
		case "async", "abstract", "declare":
			continue
		case "function", "class", "const", "let", "var", "type", "interface", "enum":
			if words[i+2] == "from" {
				return "" // it exports all names of another file
			}
			return words[i+2]
		}
		return ""
	}
	return ""
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > utf8.RuneSelf
}

// documentedLine reports whether a comment ends on the line before. The comment of a group of constants counts for its
// members.
func documentedLine(lines [][]byte, i int) bool {
	constant := []byte("export const ")
	for i > 0 && bytes.HasPrefix(lines[i], constant) && bytes.HasPrefix(lines[i-1], constant) {
		i--
	}
	return i > 0 && bytes.HasSuffix(bytes.TrimSpace(lines[i-1]), []byte("*/"))
}
