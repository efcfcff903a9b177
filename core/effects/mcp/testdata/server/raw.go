package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
)

// serveRaw uses the members "instructions" and "version" of a file in its introduction, and serves the list of tools in a file as it is, which the library would refuse. A call returns the member of
// "results" with the name of the tool, or its arguments. A call of swap replaces the file by FILE.next, and one of flood
// notifies 10,000 changes.
func serveRaw(file string) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			var head struct{ Instructions, Version string }
			if given, err := os.ReadFile(file); err == nil {
				_ = json.Unmarshal(given, &head)
			}
			instructions, _ := json.Marshal(head.Instructions)
			version, _ := json.Marshal(cmp.Or(head.Version, "2025-06-18"))
			result = `{"instructions":` + string(instructions) + `,"protocolVersion":` + string(version) + `,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`
		case "tools/list":
			tools, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			result = string(tools)
		case "tools/call":
			const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
			switch m.Params.Name {
			case "swap":
				if err := os.Rename(file+".next", file); err != nil {
					panic(err)
				}
				fmt.Println(changed)
			case "flood":
				for range 10_000 {
					fmt.Println(changed)
				}
			}
			if given, err := os.ReadFile(file); err == nil {
				var results struct{ Results map[string]json.RawMessage }
				if json.Unmarshal(given, &results) == nil && results.Results[m.Params.Name] != nil {
					result = string(results.Results[m.Params.Name])
					break
				}
			}
			text, _ := json.Marshal(string(m.Params.Arguments))
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}
