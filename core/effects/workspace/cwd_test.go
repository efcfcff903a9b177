package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
	"appserver/protocol"
)

func ptr[T any](v T) *T { return &v }

func TestResolveCwd(t *testing.T) {
	base := t.TempDir()
	sub := filepath.Join(base, "a", "b")
	require.NoError(t, os.MkdirAll(sub, 0o700))
	link(t, sub, filepath.Join(base, "link"))
	for name, tt := range map[string]struct {
		cwd  *string
		want string
	}{
		"none":     {nil, base},
		"empty":    {ptr(""), base},
		"absolute": {ptr(sub), sub},
		"relative": {ptr("a/b"), sub},
		"unclean":  {ptr(base + "//a/./b/../b/"), sub},
		"upwards":  {ptr("a/.."), base},
		"link":     {ptr("link"), filepath.Join(base, "link")},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := workspace.ResolveCwd(base, tt.cwd)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestResolveCwdAgainstARelativeBase(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	got, err := workspace.ResolveCwd(".", nil)
	require.NoError(t, err)
	require.Equal(t, here, got)
}

func TestResolveCwdErrorsNameThePath(t *testing.T) {
	base := t.TempDir()
	file := put(t, base, "file", "x")
	link(t, "loop", filepath.Join(base, "loop"))
	for cwd, want := range map[string]string{
		filepath.Join(base, "none"): "working directory " + base + "/none does not exist",
		file:                        "working directory " + file + " is not a directory",
		"file/below":                "working directory " + file + "/below cannot be used: not a directory",
		"loop":                      "working directory " + base + "/loop cannot be used: too many levels of symbolic links",
		"a\x00b":                    "working directory " + base + "/a\x00b cannot be used: invalid argument",
	} {
		_, err := workspace.ResolveCwd(base, &cwd)
		require.EqualError(t, err, want)
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, protocol.KindCwdNotFound, refusal.Data.Kind)
	}
}
