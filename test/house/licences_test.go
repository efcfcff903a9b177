package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/web/gen/build"
)

var licencesFile = apptest.Root("docs/licences.md")

const licencesHead = `# Licences of the linked modules

These modules are linked into ` + "`appserver`" + `. Their licences have the names that licensecheck gives them. A file can
contain the licences of included work. The Go standard library has BSD-3-Clause. A test writes this list, and fails if the
list is out of date or a licence is new.

| module | version | licences | files |
| --- | --- | --- | --- |
`

// permissive returns the licences that require attribution only. MPL-2.0 also requires the source of
// its own files, which this repository does not change.
func permissive() []string {
	return []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "ISC", "MIT", "MPL-2.0",
		"Unlicense"}
}

// TestLicencesAreListed compares the list with the modules that the program links on any supported
// system. -update writes the list.
func TestLicencesAreListed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(licencesHead)
	for _, m := range linkedModules(t) {
		path, version, dir := m[0], m[1], m[2]
		licences, files := licencesIn(t, dir)
		require.NotEmpty(t, licences, "%s has no known licence", path)
		for _, l := range licences {
			require.Contains(t, permissive(), l, path)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", path, version, strings.Join(licences, ", "), strings.Join(files, ", "))
	}
	b.WriteString(pageLicences(t))
	b.WriteString(dataLicences(t))
	if *apptest.Update {
		require.NoError(t, os.WriteFile(licencesFile, []byte(b.String()), 0o600))
	}
	listed, err := os.ReadFile(licencesFile)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(listed), "go test ./test/house -run TestLicences -update writes the list")
}

const pageHead = `
## Libraries of the page

The workbench contains these packages of npm, unmodified. The server serves their licences as ` + "`/assets/licences.txt`" + `.

| package | version | licences | files |
| --- | --- | --- | --- |
`

// pageLicences lists the packages of web/vendor. Their licences must include the one in vendor.json.
func pageLicences(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(pageHead)
	packages, err := build.Packages(apptest.Root("web/vendor"))
	require.NoError(t, err)
	for _, p := range packages {
		licences, files := licencesIn(t, apptest.Root("web/vendor", p.Name))
		require.Contains(t, licences, p.Licence, p.Name)
		require.Subset(t, permissive(), licences, p.Name)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Name, p.Version, strings.Join(licences, ", "), strings.Join(files, ", "))
	}
	return b.String()
}

const dataHead = `
## Data

The table of models is made from the data of another project by ` + "`make models`" + `. Its file names the date.

| source | file | licences | files |
| --- | --- | --- | --- |
`

// dataLicences lists the data of others that is embedded.
func dataLicences(t *testing.T) string {
	t.Helper()
	const folder = "core/effects/modeltable"
	licences, files := licencesIn(t, apptest.Root(folder))
	require.Equal(t, []string{"MIT"}, licences)
	return dataHead + fmt.Sprintf("| [models.dev](https://models.dev) | `%s/models.tsv` | %s | %s |\n", folder,
		strings.Join(licences, ", "), strings.Join(files, ", "))
}

// linkedModules returns the path, version and folder of each linked module.
func linkedModules(t *testing.T) (modules [][]string) {
	t.Helper()
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if .Version}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "../../cmd/appserver")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			if m := strings.Split(strings.TrimSpace(line), "\t"); len(m) == 3 {
				modules = append(modules, m)
			}
		}
	}
	slices.SortFunc(modules, slices.Compare)
	return slices.CompactFunc(modules, slices.Equal)
}

// licencesIn returns the licences in a folder, and the names of their files.
func licencesIn(t *testing.T, dir string) (licences, files []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)
	for _, e := range entries {
		if !named.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files = append(files, e.Name())
		for _, m := range licensecheck.Scan(text).Match {
			licences = append(licences, m.ID)
		}
	}
	slices.Sort(licences)
	return slices.Compact(licences), files
}
