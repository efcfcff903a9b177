package fleet

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"appserver/core/effects/config"
	"appserver/test/apptest"
)

// composeFile is deploy/compose.yaml.
type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]any
}

type composeService struct {
	Image       string
	Build       struct{ Context, Dockerfile string }
	Volumes     []string
	Entrypoint  []string
	Command     []string
	Environment map[string]string
	DependsOn   yaml.Node `yaml:"depends_on"`
	Healthcheck struct{ Test []string }
	Ports       []string
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("deploy/compose.yaml"))
	require.NoError(t, err)
	var c composeFile
	require.NoError(t, yaml.Unmarshal(text, &c))
	return c
}

// variable is a variable of the environment in a value: ${NAME:-DEFAULT} or ${NAME:?MESSAGE}.
var variable = regexp.MustCompile(`\$\{(\w+):([-?])([^}]*)\}`)

// interpolate replaces the variables in a value.
func interpolate(t *testing.T, value string, env map[string]string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(value, func(found string) string {
		parts := variable.FindStringSubmatch(found)
		if env[parts[1]] == "" && parts[2] == "-" {
			return parts[3]
		}
		require.NotEmpty(t, env[parts[1]], "%s is not set", parts[1])
		return env[parts[1]]
	})
}

// conditions returns the conditions under which a service starts, by the service that it depends on.
func (s composeService) conditions(t *testing.T) map[string]string {
	t.Helper()
	conditions := map[string]string{}
	if s.DependsOn.Kind == yaml.SequenceNode {
		var names []string
		require.NoError(t, s.DependsOn.Decode(&names))
		for _, name := range names {
			conditions[name] = "service_started"
		}
		return conditions
	}
	var all map[string]struct{ Condition string }
	require.NoError(t, s.DependsOn.Decode(&all))
	for name, c := range all {
		conditions[name] = c.Condition
	}
	return conditions
}

// TestServicesOfTheDeploymentReferToWhatExists checks files, volumes, services and ports in deploy/compose.yaml.
func TestServicesOfTheDeploymentReferToWhatExists(t *testing.T) {
	t.Parallel()
	compose := readCompose(t)
	require.Len(t, compose.Services, 6)
	used := map[string]bool{}
	for name, service := range compose.Services {
		if file := service.Build.Dockerfile; file != "" {
			require.FileExists(t, apptest.Root("deploy", service.Build.Context, file))
		} else {
			require.Contains(t, service.Image, ":", name)
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, "./") {
				require.FileExists(t, apptest.Root("deploy", source), name)
				continue
			}
			require.Contains(t, compose.Volumes, source, name)
			used[source] = true
		}
		for other, condition := range service.conditions(t) {
			require.Contains(t, compose.Services, other, name)
			if condition == "service_healthy" {
				require.NotEmpty(t, compose.Services[other].Healthcheck.Test, "%s has no health check", other)
			}
		}
	}
	for volume := range compose.Volumes {
		require.True(t, used[volume], "no service has the volume %s", volume)
	}
	balancer := compose.Services["load-balancer"]
	_, port, _ := strings.Cut(balancer.Environment["LISTEN"], ":")
	require.True(t, strings.HasSuffix(balancer.Ports[0], ":"+port))
	for _, variable := range []string{"NODE_A", "NODE_B"} {
		host, port, _ := strings.Cut(balancer.Environment[variable], ":")
		require.Contains(t, compose.Services[host].Command, "ws://0.0.0.0:"+port)
	}
	text, err := os.ReadFile(apptest.Root("deploy/haproxy.cfg"))
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(string(text), -1) {
		require.NotEmpty(t, balancer.Environment[found[1]])
	}
}

// TestTheDeploymentSetsVariablesThatServersRead loads the configuration of each node, and compares the variables of
// the node with those that it names.
func TestTheDeploymentSetsVariablesThatServersRead(t *testing.T) {
	t.Parallel()
	compose := readCompose(t)
	for _, name := range []string{"node-a", "node-b"} {
		node := compose.Services[name]
		var overrides, got []string
		for i, arg := range node.Command {
			if i > 0 && node.Command[i-1] == "-c" {
				overrides = append(overrides, arg)
			}
		}
		loaded, err := config.Load(config.Source{Home: t.TempDir(), System: apptest.Root("deploy/config.toml"),
			Overrides: overrides})
		require.NoError(t, err)
		require.Equal(t, "wss://"+name+":4600", loaded.Fleet.Address)
		for variable := range node.Environment {
			got = append(got, variable)
		}
		read := []string{loaded.Store.URLEnv, loaded.Fleet.SecretEnv, loaded.ModelProviders["openai"].EnvKey}
		require.ElementsMatch(t, read, got)
		address, err := url.Parse(variable.ReplaceAllString(node.Environment[loaded.Store.URLEnv], "secret"))
		require.NoError(t, err)
		require.Contains(t, compose.Services, address.Host)
	}
}

// instructions returns the instructions of deploy/Containerfile, each with its arguments.
func instructions(t *testing.T) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("deploy/Containerfile"))
	require.NoError(t, err)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			all = append(all, words)
		}
	}
	return all
}

// argumentsOf returns the arguments of each instruction with a name.
func argumentsOf(all [][]string, name string) (found [][]string) {
	for _, words := range all {
		if words[0] == name {
			found = append(found, words[1:])
		}
	}
	return found
}

// TestTheImageIsBuiltFromWhatExists checks the instructions of the image without building it.
func TestTheImageIsBuiltFromWhatExists(t *testing.T) {
	t.Parallel()
	all := instructions(t)
	known := []string{"ADD", "ARG", "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "ENTRYPOINT"}
	for _, words := range all {
		require.Contains(t, known, words[0])
	}
	module, err := os.ReadFile(apptest.Root("go.mod"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	base := argumentsOf(all, "FROM")[0]
	require.Regexp(t, `/golang:`+regexp.QuoteMeta(version)+`-`, base[0])
	require.Equal(t, [][]string{{"PROGRAM=" + base[len(base)-1]}, {"TARGETARCH"}}, argumentsOf(all, "ARG"),
		"the image is built from the source unless an argument selects a release")
	build := slices.Concat(argumentsOf(all, "RUN")...)
	program := build[slices.Index(build, "-o")+1]
	require.DirExists(t, apptest.Root(build[slices.Index(build, "-o")+2]))
	installed := ""
	for _, files := range argumentsOf(all, "COPY") {
		sources, target := files[:len(files)-1], files[len(files)-1]
		if sources[0] == "--from=program" {
			for _, folder := range []string{program, "/appserver_1.2.3_linux_amd64/appserver"} {
				matched, err := path.Match(sources[1], folder)
				require.NoError(t, err)
				require.True(t, matched, folder)
			}
			installed = target
			continue
		}
		for _, source := range sources {
			_, err := os.Stat(apptest.Root(source))
			require.NoError(t, err)
		}
	}
	require.Equal(t, `["`+path.Base(installed)+`"]`, argumentsOf(all, "ENTRYPOINT")[0][0])
}

// TestTheImageFitsTheDeployment compares the image with deploy/compose.yaml, certificates.sh and secrets.sh.
func TestTheImageFitsTheDeployment(t *testing.T) {
	t.Parallel()
	all, node := instructions(t), readCompose(t).Services["node-a"]
	run := strings.Join(slices.Concat(argumentsOf(all, "RUN")...), " ")
	ports := argumentsOf(all, "EXPOSE")[0]
	require.Contains(t, node.Command, "ws://0.0.0.0:"+ports[0])
	require.Contains(t, node.Command, "fleet.address=wss://node-a:"+ports[1])
	home := strings.TrimPrefix(argumentsOf(all, "ENV")[0][0], "CODEX_HOME=")
	require.Contains(t, node.Volumes, "node-a:"+home)
	require.Contains(t, node.Volumes, "work:"+argumentsOf(all, "WORKDIR")[1][0])
	require.Contains(t, run, "install -d -o appserver -g appserver "+home)
	uid := regexp.MustCompile(`--uid (\d+)`).FindStringSubmatch(run)[1]
	certificates, err := os.ReadFile(apptest.Root("deploy/certificates.sh"))
	require.NoError(t, err)
	require.Contains(t, string(certificates), "chown "+uid+" ")
	ignored, err := os.ReadFile(apptest.Root("deploy/Containerfile.dockerignore"))
	require.NoError(t, err)
	for name := range newSecrets(t).files {
		require.Contains(t, strings.Fields(string(ignored)), filepath.Join("deploy", name), "the image has no secrets")
	}
}
