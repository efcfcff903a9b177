package codeindex_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/effects/codeindex"
	"appserver/test/sample"
)

// titled returns the titles of the chunks of a file.
func titled(name, content string) (titles []string) {
	for _, c := range codeindex.Cut(name, []byte(content)) {
		titles = append(titles, c.Title)
	}
	return titles
}

// body returns text of many short lines, of about so many bytes.
func body(indent string, size int) string {
	return strings.Repeat(indent+"x = compute(x, y)\n", size/(len(indent)+18))
}

func TestGoIsCutAtDeclarations(t *testing.T) {
	source := "// Package a is a.\npackage a\n\nimport (\n\t\"fmt\"\n)\n\n" +
		"// Thread is one.\n//\n// It has turns.\ntype Thread[T any] struct {\n" + body("\t", 900) + "}\n\n" +
		"// Step steps.\nfunc (t *Thread[T]) Step(in func(int) T) (func(), error) {\n" + body("\t", 1000) + "}\n" +
		"func short() {}\n\nvar small, other = 1, 2\n\nconst (\n\tfirst = iota\n\tsecond\n)\n\n" +
		"/* Last\n is last. */\nfunc Last() { // trailing\n" + body("\t", 1400) + "}\n"
	require.Equal(t, []string{
		"a/b.go:1-60 Thread",
		"a/b.go:61-124 Thread.Step, short, small, first",
		"a/b.go:125-201 Last",
	}, titled("a/b.go", source))
}

func TestGoWithoutSenseIsCutAllTheSame(t *testing.T) {
	for _, source := range []string{"", "\n", "func", "func (", "type\n", "}}}}\nfunc a() {}\n",
		"var x = `\nfunc no() {}\n", "/* never closed\n", "\"\n", "//line x.go:99999\nfunc a() {}\n",
		"/*line :1000000000:1*/ func a() {}"} {
		require.Equal(t, source, whole(codeindex.Cut("a.go", []byte(source))), "%q", source)
	}
	require.Equal(t, []string{"a.go:1-2 a"}, titled("a.go", "//line x.go:99999\nfunc a() {}\n"))
	deep := "package a\nvar x = " + strings.Repeat(strings.Repeat("(", 1000)+"\n", 500)
	require.Equal(t, deep, whole(codeindex.Cut("a.go", []byte(deep))))
}

func TestStringsOfGoDeclareNothing(t *testing.T) {
	require.Equal(t, []string{"a.go:1-6 x"}, titled("a.go", "package a\n\nvar x = `\nfunc no() {}\ntype no int\n`\n"))
}

// TestNamesOfManyLanguages has a file for each, which is one chunk.
func TestNamesOfManyLanguages(t *testing.T) {
	for _, c := range []struct{ name, source, names string }{
		{"a.py", "import os\n\nclass Store(Base):\n    def get(self, key):\n        let = 1\n\nasync def main():\n    pass\n",
			"Store, get, main"},
		{"a.rs", "use x;\n\npub(crate) struct A;\nimpl<'a> Reader for A {\n    pub unsafe fn read(&self) {}\n}\npub const LIMIT: u32 = 1;\n", "A, Reader, read, LIMIT"},
		{"a.ts", "export default class Client {\n  private url = 1\n}\nexport const limit = 3\nexport async function go<T>(a: T) {\n  const inner = 1\n}\n", "Client, limit, go"},
		{"A.java", "package a.b;\n\npublic final class A extends B {\n  void run() {}\n  public static class Inner {}\n}\n",
			"a, A, Inner"},
		{"a.c", "#include <a.h>\n\nstatic int parse(char *s)\n{\n  call(s);\n}\nstruct row {\n};\nint main(int argc, char **argv) {\n}\nputs(\"x\");\n", "parse, row, main"},
		{"a.rb", "module Api\n  class User\n    def name\n    end\n  end\nend\n", "Api, User, name"},
		{"a.sh", "# function of nothing\nstart() {\n  echo\n}\nfunction stop {\n  :\n}\n", "start, stop"},
		{"a.proto", "message Point {\n}\nservice Map {\n  rpc Find(Point) returns (Point);\n}\n", "Point, Map, Find"},
		{"a.txt", "class of its own\n\ndef (a)\n", ""},
		{"a.js", "// class Comment\n* function doc\n\"use strict\"\n日本()\n", "日本"},
	} {
		t.Run(c.name, func(t *testing.T) {
			titles := titled(c.name, c.source)
			require.Len(t, titles, 1)
			_, names, _ := strings.Cut(titles[0], " ")
			require.Equal(t, c.names, names)
		})
	}
}

func TestOtherCodeIsCutBetweenBlocks(t *testing.T) {
	source := "import a\n\n# first\ndef first():\n" + body("    ", 1300) + "\n\ndef second():\n" + body("    ", 1300) +
		"\ndef third():\n    pass\n"
	require.Equal(t, []string{"a.py:1-65 first", "a.py:66-128 second, third"}, titled("a.py", source))
}

func TestLargeUnitsAreCutAtBlankLinesAndKeepTheirName(t *testing.T) {
	method := func(name string) string { return "    def " + name + "(self):\n" + body("        ", 1200) + "\n" }
	source := "class Large:\n" + method("one") + method("two") + method("three") + method("four")
	require.Equal(t, []string{"a.py:1-49 Large, one", "a.py:50-97 Large, two", "a.py:98-193 Large, three, four"},
		titled("a.py", source))
}

func TestMarkdownIsCutAtHeadings(t *testing.T) {
	words := strings.Repeat("Words of a paragraph.\n", 60)
	source := "# Guide #\n" + words + "\n## Setup\n```sh\n# no heading\n```\n" + words +
		"\n#hash\n####### seven\n## Use\n~~~\n```\n## none\n~~~\nEnd.\n" + words[:22*21] + "## Notes\n"
	require.Equal(t, []string{"a.md:1-62 Guide", "a.md:63-129 Setup", "a.md:130-157 Use, Notes"}, titled("a.md", source))
}

func TestTitlesAreBounded(t *testing.T) {
	var source strings.Builder
	for i := range 100 {
		fmt.Fprintf(&source, "def f%d(): 1\n", i)
	}
	for _, title := range titled("a.py", source.String()) {
		require.Less(t, len(title), 250)
	}
	long := titled("a.md", "# "+strings.Repeat("ü", 500)+"\n")[0]
	require.True(t, utf8.ValidString(long))
	require.Less(t, len(long), 300)
}

func whole(chunks []codeindex.Chunk) string {
	var text strings.Builder
	for _, c := range chunks {
		text.WriteString(c.Text)
	}
	return text.String()
}

// fits checks what is promised of the chunks of any file whose lines are not too long.
func fits(t require.TestingT, content string, chunks []codeindex.Chunk) {
	require.Equal(t, content, whole(chunks), "each byte is in one chunk")
	next, titles := 1, map[string]bool{}
	for i, c := range chunks {
		require.Equal(t, next, c.FromLine)
		require.GreaterOrEqual(t, c.ToLine, c.FromLine)
		require.NotEmpty(t, c.Text)
		require.LessOrEqual(t, len(c.Text), 3000)
		require.True(t, utf8.ValidString(c.Text))
		require.False(t, titles[c.Title], "%s twice", c.Title)
		require.Equal(t, c.ToLine-c.FromLine+1, strings.Count(strings.TrimSuffix(c.Text, "\n"), "\n")+1)
		if i > 0 {
			require.Greater(t, len(c.Text)+len(chunks[i-1].Text), 1500, "both would have been one")
		}
		next, titles[c.Title] = c.ToLine+1, true
	}
}

func TestEveryLineIsInOneChunk(t *testing.T) {
	piece := rapid.SampledFrom([]string{"\n", "func a() {\n", "}\n", "// c\n", "/* d\n", "*/ x\n", "`\n",
		"type T struct {\n", "    def f(self):\n",
		"class A:\n", "# H\n", "```\n", "end\n", "\tx := \"ü日\"\r\n", "(\n", ")\n", " \n", strings.Repeat("y", 1999) + "\n",
		strings.Repeat("z ", 300) + "\n", "last"})
	sample.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(piece, 10, 200).Draw(t, "pieces"), "")
		for _, l := range strings.SplitAfter(content, "\n") {
			if len(l) > 2000 {
				return
			}
		}
		name := rapid.SampledFrom([]string{"a.go", "b.py", "c.md", "d", "e.json"}).Draw(t, "name")
		fits(t, content, codeindex.Cut(name, []byte(content)))
	})
}

func FuzzCut(f *testing.F) {
	f.Add("a.go", "package a\nfunc f() {}\n")
	f.Add("a.md", "# a\n```\n")
	f.Add("a.py", "class A:\n\n")
	f.Fuzz(func(t *testing.T, name, content string) {
		for _, l := range strings.SplitAfter(content, "\n") {
			if len(l) > 2000 || !utf8.ValidString(content) || !utf8.ValidString(name) {
				return
			}
		}
		fits(t, content, codeindex.Cut(name, []byte(content)))
	})
}
