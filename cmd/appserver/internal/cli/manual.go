package cli

import (
	"os"
	"strconv"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
)

const manualText = `appserver runs a coding agent for editors, user interfaces and scripts, with any model provider, and keeps
each conversation in a file. Without a command, it serves a client on standard input and output in the Codex app-server
protocol.

The flags of a command can be before, between and after its arguments. Two hyphens end the flags.`

// manualPage returns the parts of the manual page beside the table. SOURCE_DATE_EPOCH is its date, in seconds since
// 1970, so that releases of one commit have equal pages.
func manualPage() cmdline.Page {
	page := cmdline.Page{Version: app.Version, Summary: "coding-agent server in the Codex app-server protocol",
		Description: manualText,
		Sections: []cmdline.Section{
			{Title: "EXIT STATUS", Entries: []cmdline.Word{
				{Name: "0", Doc: "Success; of a server: its input ended, or a signal stopped it."},
				{Name: "1", Doc: "The command failed, or was not confirmed. Standard error has the cause and the next action."},
				{Name: "2", Doc: "The command line is wrong."}}},
			{Title: "ENVIRONMENT", Entries: []cmdline.Word{
				{Name: "CODEX_HOME", Doc: "The folder of the configuration and of the conversations. Default: ~/.codex."},
				{Name: "APPSERVER_LOG, LOG_FORMAT", Doc: "The defaults of --log-level and --log-format."},
				{Name: "OPENAI_API_KEY", Doc: "The key of the provider openai. Each provider can name another variable (env_key)."},
				{Name: "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", Doc: "Proxies for connections, and the hosts without one."},
				{Name: "SSL_CERT_FILE, SSL_CERT_DIR", Doc: "Certificates of authorities to trust."}}},
			{Title: "FILES", Entries: []cmdline.Word{
				{Name: "~/.codex/config.toml", Doc: "The configuration of the user."},
				{Name: "/etc/codex/config.toml", Doc: "The configuration for all users of the machine."},
				{Name: "~/.codex/sessions", Doc: "The conversations, one file each."}}},
			{Title: "SEE ALSO", Entries: []cmdline.Word{
				{Name: "git(1)", Doc: "The agent uses it if it is there."}}},
		}}
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		page.Date = time.Unix(seconds, 0).UTC().Format("2006-01-02")
	}
	return page
}
