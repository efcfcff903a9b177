package command_test

import (
	"encoding/json"
	"fmt"

	"appserver/core/pure/command"
)

func ExampleActions() {
	for _, script := range []string{
		"cd src && sed -n 1,80p main.go | nl",
		"rg --files | grep test",
		"cat README.md 2>/dev/null; ls -la docs",
		"make; cat build.log",
	} {
		for _, action := range command.Actions(script) {
			text, err := json.Marshal(action)
			fmt.Println(string(text), err)
		}
	}
	// Output:
	// {"type":"read","command":"sed -n 1,80p main.go","name":"main.go","path":"src/main.go"} <nil>
	// {"type":"listFiles","command":"rg --files","path":null} <nil>
	// {"type":"search","command":"grep test","query":"test","path":null} <nil>
	// {"type":"read","command":"cat README.md","name":"README.md","path":"README.md"} <nil>
	// {"type":"listFiles","command":"ls -la docs","path":"docs"} <nil>
	// {"type":"unknown","command":"make; cat build.log"} <nil>
}

func ExampleSafe() {
	for _, script := range []string{
		"git log --oneline -5 | head",
		"git log --oneline -5 > log",
		"find . -name '*.tmp'",
		"find . -name '*.tmp' -delete",
		"ls *.tmp",
	} {
		fmt.Println(command.Safe(script), script)
	}
	// Output:
	// true git log --oneline -5 | head
	// false git log --oneline -5 > log
	// true find . -name '*.tmp'
	// false find . -name '*.tmp' -delete
	// false ls *.tmp
}

func ExampleQuote() {
	fmt.Println(command.Quote([]string{"/bin/bash", "-lc", "echo hi"}))
	fmt.Println(command.Quote([]string{"/bin/bash", "-lc", `echo "it's"`}))
	fmt.Println(command.Quote([]string{"grep", "-rn", "$HOME", ""}))
	// Output:
	// /bin/bash -lc 'echo hi'
	// /bin/bash -lc "echo \"it's\""
	// grep -rn '$HOME' ''
}
