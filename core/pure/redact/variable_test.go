package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"appserver/core/pure/redact"
)

// secretVariables are environment variables with secrets. {} separates parts of tokens, so that this file has none.
const secretVariables = `
GH_PAT=ghp_{}0123456789abcdefghijABCDEFGHIJ012345
GH_PAT=changeme
AZURE_DEVOPS_EXT_PAT=abc
GITHUB_PAT_2=x1
NPM_AUTH=dXNlcjpwYXNz
npm_config__auth=dXNlcjpwYXNz
REDIS_AUTH=hunter2
BASIC_AUTH=me:you
DOCKER_AUTH_CONFIG={"auths":{"r.example.com":{"auth":"dXNlcjpwYXNz"}}}
HTTP_AUTHORIZATION=Basic dXNlcjpwYXNz
PGPASS=hunter2
DB_PASS=hunter2
DBPASS=hunter2
MYSQL_PWD=hunter2
SSHPASS=/hunter2
JWT=abc
APP_JWT=abc
COOKIE=a=b
SESSION_COOKIE=abc
RELEASE_COOKIE=ABCDEFGH
SENTRY_DSN=https://abc@o1.ingest.sentry.io/1
AWS_CREDS=abc
PGPASSWORD=x
AWS_SECRET_ACCESS_KEY=x
DATABASE_URL=postgres://app:hunter2@db.example.com:5432/app
DATABASE_URL=postgres://app:x@db/app
REDIS_URL=redis://:hunter2@cache:6379/0
MONGO=mongodb+srv://u:p%40ss@c.example.net/db?retryWrites=true
HTTPS_PROXY=http://me:hunter2@proxy.example.com:3128
PIP_EXTRA_INDEX_URL=https://__token__:hunter2@pypi.example.com/simple
GIT_CONFIG_KEY_0=url.https://x:hunter2@github.com/.insteadOf
JDBC=jdbc:postgresql://db/app?user=app&password=hunter2
CONN=Server=db;Database=app;User Id=sa;Password=hunter2;
LIBPQ=host=db user=app password=hunter2
STORAGE=https://x.blob.core.windows.net/c?sv=2024&sig=abcdef%2B
SETTINGS={"user":"me","password":"hunter2"}
JAVA_TOOL_OPTIONS=-Djavax.net.ssl.keyStorePassword=changeit
SLACK=xoxb-{}123456789012-abcdefGHIJKL
STRIPE=sk_{}live_0123456789abcdefABCDEF
OPENAI=sk-{}proj-0123456789abcdefghijABCDEFGHIJ0123456789
GOOGLE=AIza{}SyA0123456789abcdefghijABCDEFGHIJ01
ID=eyJ{}hbGciOiJIUzI1NiJ9.eyJ{}zdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1rwW1gFWFOEjXk
CERT=-----BEGIN {}PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj-----END {}PRIVATE KEY-----
CUSTOM=q7Zr2Kx9LmT4vB8nY1Wc
CUSTOM=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1
SIGNING=9f3kQz7LmN2pR8tXvB4wYc6dHgJ1sUaE0oIiKlM5nPq=
FERNET=Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A=
HEROKU=k3j9x7q2m8v4b6n1c5z0l3p7w9r2t8y4
`

// TestSecretVariablesAreFound checks variables whose name or value shows a secret.
func TestSecretVariablesAreFound(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(secretVariables, "{}", ""))) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		assert.True(t, redact.IsSecretVariable(name, value), line)
		assert.True(t, redact.IsSecretVariable(strings.ToLower(name), value), line)
	}
	for _, value := range []string{"-----BEGIN PRIVATE KEY-----\nMIIE", "x -----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n"} {
		assert.True(t, redact.IsSecretVariable("MATERIAL", value), "a part of a key: %s", value)
	}
	assert.False(t, redact.IsSecretVariable("MATERIAL", "-----BEGIN CERTIFICATE-----\nMIIE"))
}

// environments have variables of machines as they are, without secrets.
var environments = map[string]string{
	"GitHub Actions": `
CI=true
GITHUB_SHA=ffac537e6cbbf934b08745a378932722df287a53
GITHUB_RUN_ID=1658821493
GITHUB_ACTION=__run_2
GITHUB_WORKFLOW_REF=octocat/hello-world/.github/workflows/my-workflow.yml@refs/heads/my_branch
GITHUB_ENV=/home/runner/work/_temp/_runner_file_commands/set_env_87406d6e-4979-4d42-98e1-3dab1f48b13a
GITHUB_EVENT_PATH=/home/runner/work/_temp/_github_workflow/event.json
RUNNER_TRACKING_ID=github_5e1d9c3f-6a0c-4c43-8f0c-2a4f1f2c4e8d
RUNNER_TOOL_CACHE=/opt/hostedtoolcache
ImageOS=ubuntu24
ImageVersion=20250105.1.0
ACTIONS_CACHE_URL=https://acghubeus1.actions.githubusercontent.com/a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6/
GOROOT_1_22_X64=/opt/hostedtoolcache/go/1.22.10/x64
SWIFT_PATH=/usr/share/swift/usr/bin
SYSTEMD_EXEC_PID=645
INVOCATION_ID=8a2f0c2f7a3b4b8e9d1c6f5e4a3b2c1d
JOURNAL_STREAM=9:8653
GITHUB_SERVER_URL=https://github.com
LEIN_JAR=/usr/local/lib/lein/self-installs/leiningen-2.11.2-standalone.jar
`,
	"macOS": `
TERM_PROGRAM=Apple_Terminal
TERM_SESSION_ID=3C8B5A3F-6B3D-4E6F-9E3C-9F6B7C4F0A1B
SSH_AUTH_SOCK=/private/tmp/com.apple.launchd.Kx3vQzLmN2/Listeners
Apple_PubSub_Socket_Render=/private/tmp/com.apple.launchd.aB3dE5fG7h/Render
__CF_USER_TEXT_ENCODING=0x1F5:0x0:0x0
__CFBundleIdentifier=com.apple.Terminal
XPC_SERVICE_NAME=0
TMPDIR=/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/
ITERM_SESSION_ID=w0t0p0:3C8B5A3F-6B3D-4E6F-9E3C-9F6B7C4F0A1B
ITERM_PROFILE=Default
COLORFGBG=7;0
LC_TERMINAL_VERSION=3.5.10
HOMEBREW_CELLAR=/opt/homebrew/Cellar
INFOPATH=/opt/homebrew/share/info:
`,
	"NixOS": `
PATH=/nix/store/0c3y8qp5wlm2k9v7r4x6z1b8d5f2h3j4-coreutils-9.5/bin:/run/current-system/sw/bin
NIX_STORE=/nix/store
out=/nix/store/0c3y8qp5wlm2k9v7r4x6z1b8d5f2h3j4-hello
NIX_PATH=nixpkgs=/nix/var/nix/profiles/per-user/root/channels/nixos:nixos-config=/etc/nixos/configuration.nix
NIX_CFLAGS_COMPILE= -frandom-seed=0c3y8qp5wl -isystem /nix/store/x7r4x6z1b8d5f2h3j40c3y8qp5wlm2k9-zlib-1.3.1-dev/include
NIX_LDFLAGS=-rpath /nix/store/x7r4x6z1b8d5f2h3j40c3y8qp5wlm2k9-out/lib
__NIXOS_SET_ENVIRONMENT_DONE=1
XDG_DATA_DIRS=/run/opengl-driver/share:/nix/var/nix/profiles/default/share
LOCALE_ARCHIVE=/run/current-system/sw/lib/locale/locale-archive
SOURCE_DATE_EPOCH=315532800
`,
	"a desktop with Linux": `
DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef
XDG_SESSION_ID=2
XDG_SESSION_TYPE=wayland
XDG_SESSION_PATH=/org/freedesktop/DisplayManager/Session0
XDG_RUNTIME_DIR=/run/user/1000
XAUTHORITY=/run/user/1000/.mutter-Xwaylandauth.QX5Z82
SESSION_MANAGER=local/host:@/tmp/.ICE-unix/2120,unix/host:/tmp/.ICE-unix/2120
PULSE_COOKIE=/home/me/.config/pulse/cookie
SSH_ASKPASS=/usr/libexec/openssh/gnome-ssh-askpass
GPG_AGENT_INFO=/run/user/1000/gnupg/S.gpg-agent:0:1
DESKTOP_SESSION=gnome
GNOME_TERMINAL_SCREEN=/org/gnome/Terminal/screen/87406d6e_4979_4d42_98e1_3dab1f48b13a
GNOME_TERMINAL_SERVICE=:1.103
LS_COLORS=rs=0:di=01;34:ln=01;36:*.tar=01;31:*.sig=01;31:*.pwd=01;31
LESSOPEN=| /usr/bin/lesspipe %s
PS1=\[\e]0;\u@\h: \w\a\]${debian_chroot:+($debian_chroot)}\u@\h:\w\$ 
PWD=/home/me
OLDPWD=/home/me/src
MAIL=/var/mail/me
XKB_DEFAULT_LAYOUT=us
QT_IM_MODULE=ibus
WINDOWID=58720262
SSH_CONNECTION=10.0.0.5 52144 10.0.0.9 22
KONSOLE_DBUS_SESSION=/Sessions/1
BASH_FUNC_module%%=() { eval "$(modulecmd bash "$@")"; }
`,
	"editors": `
VSCODE_GIT_ASKPASS_NODE=/usr/share/code/code
VSCODE_GIT_ASKPASS_MAIN=/usr/share/code/resources/app/extensions/git/dist/askpass-main.js
GIT_ASKPASS=/usr/share/code/resources/app/extensions/git/dist/askpass.sh
VSCODE_GIT_IPC_HANDLE=/run/user/1000/vscode-git-4f3a2b1c0d.sock
VSCODE_IPC_HOOK_CLI=/run/user/1000/vscode-ipc-87406d6e-4979-4d42-98e1-3dab1f48b13a.sock
VSCODE_INJECTION=1
VSCODE_NONCE_SHELL_VERSION=1
TERM_PROGRAM_VERSION=1.99.3
TERMINAL_EMULATOR=JetBrains-JediTerm
IDEA_INITIAL_DIRECTORY=/home/me/idea/bin
WT_SESSION=87406d6e-4979-4d42-98e1-3dab1f48b13a
`,
	"Codespaces": `
CODESPACES=true
CODESPACE_NAME=glowing-space-train-7vrq9w6v5p3xq7wr
GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN=app.github.dev
GITHUB_USER=octocat
GITHUB_REPOSITORY=octocat/hello-world
CLOUDENV_ENVIRONMENT_ID=87406d6e-4979-4d42-98e1-3dab1f48b13a
INTERNAL_VSCS_TARGET_URL=https://eastus.online.visualstudio.com
ContainerVersion=13
NVM_SYMLINK_CURRENT=true
ORYX_DIR=/usr/local/oryx
`,
	"tools": `
GOFLAGS=-ldflags=-X=main.commit=ffac537e6cbbf934b08745a378932722df287a53
GOPRIVATE=example.com/*
GOPROXY=https://proxy.golang.org,direct
GIT_CONFIG_COUNT=1
GIT_CONFIG_KEY_0=safe.directory
GIT_CONFIG_VALUE_0=*
AUTH_TYPE=oauth
ENABLE_AUTH=true
COOKIE_DOMAIN=example.com
BYPASS=1
DATABASE_URL=postgres://app@localhost/app
DATABASE_URL=postgres://app:$DB_PASSWORD@localhost/app
BASE_URL=https://example.com:8443/a@b
VERCEL_DEPLOYMENT_ID=dpl_5MZ7kQ2rX9vB4nL8wT3c
DOCKER_HOST=unix:///run/user/1000/docker.sock
KUBERNETES_PORT=tcp://10.0.0.1:443
CARGO_BUILD_TARGET=x86_64-unknown-linux-gnu
JAVA_HOME=/usr/lib/jvm/java-21-openjdk-amd64
CONDA_PROMPT_MODIFIER=(base) 
IMAGE=registry.example.com/team/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
BUILD=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
PYTHONPATH=src:lib/PythonThree3/SitePackages12
CLASS=com.example.MyApplicationServer2019Production
TITLE=MyApplicationServer2019Production
NODE_OPTIONS=--max-old-space-size=4096
`,
}

// TestOrdinaryVariablesAreKept checks the variables of real machines.
func TestOrdinaryVariablesAreKept(t *testing.T) {
	for name, environment := range environments {
		for line := range strings.Lines(strings.TrimLeft(environment, "\n")) {
			variable, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			assert.False(t, redact.IsSecretVariable(variable, value), "%s: %s", name, line)
		}
	}
}

// BenchmarkVariables measures one environment.
func BenchmarkVariables(b *testing.B) {
	for b.Loop() {
		for line := range strings.Lines(environments["a desktop with Linux"]) {
			name, value, _ := strings.Cut(line, "=")
			_ = redact.IsSecretVariable(name, value)
		}
	}
}
