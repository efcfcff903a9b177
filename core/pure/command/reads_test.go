package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/command"
)

func TestReadsNamesTheLinesOfFiles(t *testing.T) {
	all := func(path string) command.Read { return command.Read{Path: path, From: 1, To: command.LastLine} }
	for script, want := range map[string][]command.Read{
		"cat a.go":                         {all("a.go")},
		"cat a.go b.go":                    {all("a.go"), all("b.go")},
		"cd core && cat a.go":              {all("core/a.go")},
		"sed -n '10,20p' a.go":             {{Path: "a.go", From: 10, To: 20}},
		"sed -n 5p a.go":                   {{Path: "a.go", From: 5, To: 5}},
		"sed -n '10,$p' a.go":              {{Path: "a.go", From: 10, To: command.LastLine}},
		"head -n 5 a.go":                   {{Path: "a.go", From: 1, To: 5}},
		"head -40 a.go":                    {{Path: "a.go", From: 1, To: 40}},
		"head a.go":                        {{Path: "a.go", From: 1, To: 10}},
		"tail -n +7 a.go":                  {{Path: "a.go", From: 7, To: command.LastLine}},
		"nl -ba a.go | sed -n '3,4p'":      {{Path: "a.go", From: 3, To: 4}},
		"cat a.go | head -n 3 && cat b.go": {{Path: "a.go", From: 1, To: 3}, all("b.go")},
		"tail a.go":                        nil,
		"tail -n 5 a.go":                   nil,
		"head -c 5 a.go":                   nil,
		"head -n -5 a.go":                  nil,
		"sed 's/a/b/' a.go":                nil,
		"sed -i -n 1p a.go":                nil,
		"sed -n '$p' a.go":                 nil,
		"cat a.go | grep x":                nil,
		"cat a.go; make":                   nil,
		"cat $FILE":                        nil,
		"sed -n 1,9p a.go | sed -n '2,3p'": nil,
		"cat < a.go":                       nil,
		"cat":                              nil,
		"cat -":                            nil,
		"":                                 nil,
		"cat a.go > b.go":                  nil,
	} {
		require.Equal(t, want, command.Reads(script), script)
	}
}

func TestReadsCoverNarrowerOnes(t *testing.T) {
	whole := command.Read{Path: "a", From: 1, To: command.LastLine}
	part := command.Read{Path: "a", From: 3, To: 9}
	require.True(t, whole.Covers(part))
	require.True(t, part.Covers(part))
	require.False(t, part.Covers(whole))
	require.False(t, whole.Covers(command.Read{Path: "b", From: 3, To: 9}))
}
