package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestTypesInTypeScript(t *testing.T) {
	for _, c := range []struct {
		node *Node
		want string
	}{
		{anything(), "unknown"},
		{kind("boolean"), "boolean"},
		{nullable(kind("integer")), "number | null"},
		{ref("Thread"), "Thread"},
		{described(ref("Thread"), "why"), "Thread"},
		{nullable(ref("Thread")), "Thread | null"},
		{words("a", "b"), `"a" | "b"`},
		{list(words("a", "b")), `Array<"a" | "b">`},
		{either(words("a"), kind("string")), `"a" | (string & {})`},
		{either(kind("string"), list(kind("string"))), "string | Array<string>"},
		{kind("object"), "Record<string, never>"},
		{&Node{Type: Kinds{"object"}, Values: anything()}, "{ [key: string]: unknown }"},
		{object(Property{"a-b", kind("string")}), `{ "a-b": string }`},
		{&Node{Type: Kinds{"object"}, Properties: Properties{{"a", kind("null")}}}, "{ a?: null }"},
	} {
		require.Equal(t, c.want, typeOf(c.node))
	}
}

func TestDeclarations(t *testing.T) {
	var p printer
	p.declaration("Point", described(object(Property{"x", described(kind("integer"), "Across.")}), "A place.\n\nOf two."))
	p.declaration("Shape", either(object(Property{"r", kind("integer")}), words("none")))
	require.Equal(t, `
/**
 * A place.
 *
 * Of two.
 */
export interface Point {
  /** Across. */
  x: number;
}

export type Shape =
  | { r: number }
  | "none";
`, p.String())
}

func TestCommentsCannotEndEarly(t *testing.T) {
	var p printer
	p.comment("", "ends */ here")
	require.Equal(t, "/** ends * / here */\n", p.String())
}

func TestUnknownVariantsStayOutOfTypeScript(t *testing.T) {
	declared := string(typeScript(collected(t)))
	line := regexp.MustCompile(`(?m)^export type ThreadItem = .*$`).FindString(declared)
	require.Contains(t, line, "AgentMessageItem")
	require.NotContains(t, line, "{")
}

// code returns the TypeScript without comments and the contents of strings.
func code(t *testing.T) string {
	t.Helper()
	text := string(typeScript(collected(t)))
	text = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`).ReplaceAllString(text, "")
	return regexp.MustCompile(`"[^"\n]*"`).ReplaceAllString(text, `""`)
}

func TestBracketsAreBalanced(t *testing.T) {
	closing := map[rune]rune{'}': '{', ')': '(', ']': '[', '>': '<'}
	var open []rune
	for i, r := range code(t) {
		switch r {
		case '{', '(', '[', '<':
			open = append(open, r)
		case '}', ')', ']', '>':
			require.NotEmpty(t, open, "at byte %d", i)
			require.Equal(t, closing[r], open[len(open)-1], "at byte %d", i)
			open = open[:len(open)-1]
		}
	}
	require.Empty(t, open)
}

var (
	declaredName = regexp.MustCompile(`export (?:interface|type) (\w+)`)
	usedName     = regexp.MustCompile(`\b[A-Z]\w*`)
)

func TestEveryTypeIsDeclaredOnce(t *testing.T) {
	text := code(t)
	declared := map[string]bool{"Array": true, "Record": true}
	for _, m := range declaredName.FindAllStringSubmatch(text, -1) {
		require.False(t, declared[m[1]], "%s is declared twice, or a name of TypeScript's own", m[1])
		declared[m[1]] = true
	}
	for _, name := range usedName.FindAllString(text, -1) {
		require.True(t, declared[name], "%s is not declared", name)
	}
}

func TestMembersAreDeclaredOnce(t *testing.T) {
	for name, n := range collected(t).definitions {
		seen := map[string]bool{}
		for _, p := range n.Properties {
			require.False(t, seen[p.Name], "%s.%s", name, p.Name)
			seen[p.Name] = true
		}
	}
}

func TestEveryMethodIsInTheTable(t *testing.T) {
	text := string(typeScript(collected(t)))
	table := text[strings.Index(text, "export interface Methods"):]
	for _, m := range protocol.Methods() {
		require.Contains(t, table, "  "+memberName(m.Name)+": { params: "+m.Params.Name()+"; result: "+resultName(m)+" };")
	}
}
