package house

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHouseRulesFindViolationsOfScripts breaks each rule for TypeScript in a small tree and looks for the finding.
func TestHouseRulesFindViolationsOfScripts(t *testing.T) {
	component := "export function View({ store }) {\n\tconst [at, setAt] = useState(0);\n\t%s\n\treturn <p />;\n}\n"
	for _, c := range []struct{ rule, file, text, want string }{
		{"script imports", "web/src/lib/a.ts", `import type { Thread } from "../wire/types.ts";`,
			"web/src/lib/a.ts:1: it imports web/src/wire/types.ts; of our scripts, web/src/lib may import only those of [web/src/lib]"},
		{"script imports", "web/src/store/a.ts", "import {\n\ta,\n\tb,\n} from \"../view/b.ts\";", "web/src/store/a.ts:4: it imports web/src/view/b.ts"},
		{"script imports", "web/src/store/a.ts", `import { useMemo } from "preact/hooks";`, "it imports the library preact/hooks"},
		{"script imports", "web/src/wire/a.ts", `import "new-library";`, "it imports the library new-library"},
		{"script imports", "web/src/lib/a.ts", `export * from "../store/b.ts";`, "it imports web/src/store/b.ts"},
		{"script imports", "web/src/lib/a.ts", `const later = () => import("../view/b.tsx");`, "web/src/lib/a.ts:1: it imports web/src/view/b.tsx"},
		{"script imports", "web/src/attic/a.ts", "", "folder web/src/attic has no import rule"},
		{"script imports", "editors/vscode/src/a.ts", `import { App } from "../../../web/src/store/app.ts";`, "it imports web/src/store/app.ts"},
		{"script imports", "web/src/store/a.ts", `import { Markdown } from "../lib/markdown.tsx";`, "a store runs without a page"},
		{"script function size", "web/src/lib/a.ts", "function f() {\n" + strings.Repeat("\tf();\n", 59) + "}\n",
			"web/src/lib/a.ts:1 f has 61 lines, more than 60"},
		{"script function size", "web/src/lib/a.ts", "class C {\n\tm(): void {\n" + strings.Repeat("\t\tf();\n", 59) + "\t}\n}\n",
			"web/src/lib/a.ts:2 m has 61 lines"},
		{"script function size", "web/src/view/a.tsx", "const A = () =>\n\t<p>\n" + strings.Repeat("\t\t<br />\n", 60) + "\t</p>;\n", "A has 6"},
		{"script file size", "web/src/lib/a.ts", strings.Repeat("\n", 301), "web/src/lib/a.ts has 301 lines, more than 300"},
		{"script line width", "web/test/a.ts", "\nconst x = [" + strings.Repeat("1,", 60) + "];", "web/test/a.ts:2 has 133 columns"},
		{"script docs", "web/src/lib/a.ts", "// A comment of the file.\n\nexport const a = 1;\n", "web/src/lib/a.ts:3: a is exported and has no comment"},
		{"script docs", "web/src/lib/a.ts", "export async function f() {}\n", "1 of 1 exported names of TypeScript"},
		{"script docs", "web/src/lib/a.ts", "export interface I {\n}\n", "a.ts:1: I is exported"},
		{"module state", "web/src/store/a.ts", "let n = 0;\n", "web/src/store/a.ts:1: n is a variable of a module"},
		{"module state", "web/src/store/a.ts", "export var n = 0;\n", "n is a variable of a module"},
		{"module state", "web/src/store/a.ts", "const known = new Map<string, number>();\n", "known is a collection of a module"},
		{"module state", "web/src/view/a.ts", "import { signal } from \"@preact/signals\";\nexport const open = signal(false);\n",
			"web/src/view/a.ts:2: open is a signal of a module"},
		{"module state", "web/src/lib/a.ts", "class C {\n\tstatic n = 0;\n}\n", "web/src/lib/a.ts:2: n is a static member"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "store.open.value = true;"),
			"web/src/view/a.tsx:3: View assigns the member value while it renders"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "const r = useRef(0); r.current++;"), "View assigns the member current"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "last = at;"), "View assigns last"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "store.cache[at] = 1;"), "View assigns an element"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "if (at > 1) setAt(1);"), "View calls setAt"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "store.known.add(at);"), "View calls add of store"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "store.list?.push(at);"), "View calls push of store"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "void store.call(\"thread/list\");"), "View calls call"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "setTimeout(() => 1, 1);"), "View calls setTimeout"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "at.map((x) => (store.last = x));"), "View assigns the member last"},
		{"state in render", "web/src/view/a.tsx", fmt.Sprintf(component, "useMemo(() => { store.n = 1; }, []);"), "View assigns the member n"},
		{"state in render", "web/src/view/a.tsx", "const Row = memo(({ s }) => {\n\ts.n = 1;\n\treturn null;\n});\n", "a.tsx:2: Row assigns the member n"},
		{"state in render", "web/src/lib/a.ts", "function useIt(x) {\n\tdelete x.y;\n}\n", "a.ts:2: useIt assigns the member y"},
	} {
		t.Run(c.rule+" "+c.want, func(t *testing.T) {
			require.Contains(t, findingsOf(t, c.rule, houseOf(t, c.file, c.text)), c.want)
		})
	}
}

// TestHouseRulesFindCyclesOfScripts has one cycle by types, one by import(), and one through three files.
func TestHouseRulesFindCyclesOfScripts(t *testing.T) {
	tree := houseOf(t, "web/src/lib/a.ts", `import type { B } from "./b.ts";`, "web/src/lib/b.ts", `import { a } from "./a.ts";`,
		"web/src/view/a.tsx", `const b = () => import("./b.tsx");`, "web/src/view/b.tsx", `import { c } from "./c.tsx";`,
		"web/src/view/c.tsx", `import { a } from "./a.tsx";`, "web/src/wire/a.ts", `import "./b.ts";`, "web/src/wire/b.ts", "")
	findings := strings.Split(findingsOf(t, "script cycles", tree), "\n")
	require.Len(t, findings, 2)
	require.Contains(t, findings[0], "web/src/lib/a.ts → web/src/lib/b.ts → web/src/lib/a.ts is a cycle")
	require.Contains(t, findings[1], "web/src/view/a.tsx → web/src/view/b.tsx → web/src/view/c.tsx → web/src/view/a.tsx is a cycle")
}

// TestHouseRulesAllowValidScripts checks code that resembles a fault and is allowed.
func TestHouseRulesAllowValidScripts(t *testing.T) {
	for _, c := range []struct{ rule, file, text string }{
		{"script imports", "web/src/view/a.tsx", "import { a } from \"../store/a.ts\";\nimport { b } from \"./b.tsx\";"},
		{"script imports", "web/src/lib/a.ts", "/** import b from \"../view/b.ts\"; */\nconst text = `\n\timport \"../view/c.ts\";`;"},
		{"script imports", "editors/vscode/src/a.ts", `import { homedir } from "node:os";`},
		{"script imports", "web/test/a.ts", `import { a } from "../src/view/a.tsx";`},
		{"script function size", "web/test/a.ts", "function f() {\n" + strings.Repeat("\tf();\n", 90) + "}\n"},
		{"script line width", "web/src/lib/a.ts", "const x = \"" + strings.Repeat("x", 140) + "\";"},
		{"script line width", "web/src/view/a.tsx", "const X = () => <p>" + strings.Repeat("word ", 30) + "</p>;"},
		{"script docs", "web/src/lib/a.ts", "/** a and b are numbers. */\nexport const a = 1;\nexport const b = 2;\nexport type * from \"./c.ts\";\n"},
		{"module state", "web/src/lib/a.ts", "const table = new Set([\"x\"]);\nconst f = () => { let n = 0; return n; };\n"},
		{"module state", "web/src/store/a.ts", "import { signal } from \"@preact/signals\";\n/** a. */\nexport const a = signal(0);\n"},
		{"module state", "web/test/a.ts", "let n = 0;\n"},
		{"state in render", "web/src/view/a.tsx", "function A({ s }) {\n\tuseEffect(() => { s.n = 1; setTimeout(f, 1); });\n" +
			"\tconst rows = [];\n\tlet n = 0;\n\tfor (const r of s.rows) { rows.push(r); n++; }\n" +
			"\treturn <p onClick={() => (s.open.value = true)}>{rows.map((r) => <b onClick={() => s.set(r)} />)}</p>;\n}\n"},
		{"state in render", "web/src/store/a.ts", "function load(s) {\n\ts.n = 1;\n}\n"},
	} {
		t.Run(c.rule+" "+c.file, func(t *testing.T) {
			require.Empty(t, findingsOf(t, c.rule, houseOf(t, c.file, c.text)))
		})
	}
}

func TestScriptsThatCannotBeParsedAreNamed(t *testing.T) {
	_, err := parseScript("web/src/a.ts", []byte("\nconst = 1;"))
	require.ErrorContains(t, err, "web/src/a.ts:2: ")
}
