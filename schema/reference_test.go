//go:build reference

package schema_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema/conform"
)

// Run with REFERENCE_SCHEMA naming a folder that the reference implementation
// wrote its stable schema files to:
//
//	REFERENCE_SCHEMA=DIR go test -tags reference ./schema

func reference(t *testing.T) *conform.Schemas {
	t.Helper()
	dir := os.Getenv("REFERENCE_SCHEMA")
	require.NotEmpty(t, dir, "set REFERENCE_SCHEMA to the folder of the reference's schema files")
	s, err := conform.Load(os.DirFS(dir))
	require.NoError(t, err)
	return s
}

func TestProtocolIsThatOfTheReference(t *testing.T) {
	used := map[string]bool{}
	own := ownPlaces()
	for _, d := range deviations(t) {
		if own[d.Place] {
			continue
		}
		pattern := deliberate(d)
		if pattern == "" {
			t.Errorf("%v", d)
		}
		used[pattern] = true
	}
	for pattern := range deliberately {
		if !used[pattern] {
			t.Errorf("%s does not deviate any more: take it off the list", pattern)
		}
	}
}

// ownPlaces are where messages stand that the reference does not have.
func ownPlaces() map[string]bool {
	places := map[string]bool{}
	for _, m := range protocol.Methods() {
		places["ClientRequest{"+m.Name+"}"] = m.Own
	}
	for _, n := range protocol.Notifications() {
		places["ServerNotification{"+n.Method+"}"] = n.Own
	}
	return places
}

// deviations compares requests and notifications as a whole, by method, and
// answers one by one.
func deviations(t *testing.T) []conform.Deviation {
	ours, theirs := load(t), reference(t)
	var all []conform.Deviation
	compare := func(name string, direction conform.Direction) {
		found, err := conform.Compare(ours, theirs, name, direction)
		require.NoError(t, err)
		all = append(all, found...)
	}
	compare("ClientRequest", conform.Read)
	compare("ServerNotification", conform.Written)
	compare("ServerRequest", conform.Written)
	for _, m := range protocol.Methods() {
		if !m.Own {
			compare(conform.ResultName(m), conform.Written)
		}
	}
	for _, r := range protocol.ServerRequests() {
		compare(r.Result.Name(), conform.Read)
	}
	return all
}

// deliberate finds the entry of the list that covers a deviation.
func deliberate(d conform.Deviation) string {
	if _, ok := deliberately[d.Place]; ok {
		return d.Place
	}
	for pattern := range deliberately {
		prefix, ok := strings.CutSuffix(pattern, "*")
		if ok && d.Kind == conform.Missing && strings.HasPrefix(d.Place, prefix) {
			return pattern
		}
	}
	return ""
}

const (
	notServed    = "not served"
	alwaysNull   = "always null"
	vendorCloud  = "belongs to the vendor's cloud"
	noEffect     = "has no effect in the reference implementation either"
	statistics   = "is for the vendor's statistics only"
	foreign      = "kept as it is where a rollout of the reference implementation has it"
	neverWritten = "the reference implementation leaves it out where it has none, and we never have one"
	ofTrims      = "of our own trim points and compactions"
	ofServers    = "handed on as the MCP server wrote it"
	jsonRPC      = "every message is JSON-RPC 2.0; the reference implementation leaves it out"
)

// deliberately are the places where we deviate, and why. A place that ends with *
// stands for everything missing in a place that begins like it.
var deliberately = map[string]string{
	"ClientRequest.jsonrpc":      jsonRPC,
	"ServerNotification.jsonrpc": jsonRPC,
	"ServerRequest.jsonrpc":      jsonRPC,
	"ClientRequest{*":            notServed,
	"ServerNotification{*":       notServed,
	"ServerRequest{*":            notServed,

	"ServerNotification.emittedAtMs": "not required",

	"ThreadStartParams.dynamicTools":              "of the experimental surface",
	"TurnStartParams.collaborationMode":           "of the experimental surface",
	"Model.contextWindow":                         "of our own: null where nobody tells it",
	"ProviderSettings{bedrock}":                   vendorCloud,
	"ProviderSettings{gcp}":                       vendorCloud,
	"GatewayAuth.mode=environmentVariable":        "one type here, variants there",
	"GatewayAuth.mode=none":                       "one type here, variants there",
	"GatewayAuth{mode}":                           "one type here, variants there",
	"HooksListEntry.errors":                       "always empty",
	"HooksListEntry.hooks":                        "always empty",
	"GetAccountResponse.account":                  alwaysNull,
	"GetAccountResponse.workspaceRouting":         alwaysNull,
	"ConfigRequirementsReadResponse.requirements": alwaysNull,

	"AudioInput.fileId": vendorCloud, "AudioInput.url": vendorCloud,
	"ImageInput.fileId": vendorCloud, "ImageInput.url": vendorCloud,
	"ReviewStartParams.delivery=detached":                   "older versions of the reference took it",
	"InitializeCapabilities.contextItemsDelta":              "of our own context control",
	"InitializeCapabilities.explicitGatewayOauth":           vendorCloud,
	"InitializeCapabilities.extensions":                     "we have no extensions",
	"InitializeCapabilities.mcpServerOpenaiFormElicitation": notServed,
	"InitializeCapabilities.requestAttestation":             vendorCloud,
	"InitializeCapabilities.requiredHumanApproval":          "approval requests always go to the user",
	"InitializeCapabilities.slashCommands":                  "of our own slash commands",
	"TurnCompletedNotification.metadata":                    "of our own diffs",
	"CommandExecParams.permissionProfile":                   "of the experimental surface",
	"ThreadForkParams.beforeTurnId":                         "of the experimental surface",
	"ThreadForkParams.path":                                 "of the experimental surface",
	"ThreadListParams.ancestorThreadId":                     "of the experimental surface",
	"ThreadListParams.attachedToThreadId":                   "of the experimental surface",
	"ThreadListParams.currentAccountOnly":                   vendorCloud,
	"ThreadListParams.includeAttachedThreads":               "of the experimental surface",
	"ThreadListParams.parentThreadId":                       "of the experimental surface",
	"ThreadListParams.projectId":                            "of the experimental surface",
	"ThreadItemsListParams.deferOutput":                     "outputs are never held back",
	"ThreadListParams.useStateDbOnly":                       "lists are always complete",
	"ThreadResumeParams.path":                               "of the experimental surface",
	"ThreadResumeParams.personality":                        noEffect,
	"ThreadStartParams.personality":                         noEffect,
	"ThreadStartParams.serviceName":                         statistics,
	"ThreadStartParams.sessionStartSource":                  statistics,
	"TurnStartParams.disabledPluginIds":                     "there are no plugins",
	"TurnStartParams.parentTurnId":                          statistics,
	"TurnStartParams.personality":                           noEffect,
	"TurnStartParams.serviceTierForTurn":                    "belongs to the vendor's prices; serviceTier is passed on",
	"TurnStartParams.toolOutput":                            "there are no tools of the client's that a turn could answer",
	"TurnStartParams.turnTrigger":                           statistics,

	"CommandExecutionRequestApprovalParams.approvalId":                      neverWritten,
	"CommandExecutionRequestApprovalParams.networkApprovalContext":          neverWritten,
	"CommandExecutionRequestApprovalParams.proposedNetworkPolicyAmendments": neverWritten,
	"CommandExecutionRequestApprovalParams.availableDecisions":              "of the experimental surface, but written by the reference implementation to all",
	"CommandExecutionRequestApprovalParams.kind=*":                          notServed,
	"ApprovalDecision{applyNetworkPolicyAmendment}":                         "never offered",

	"McpResourceReadParams._meta":                 "not looked at",
	"McpResourceReadParams.target":                "not looked at: what is read is that of the thread's server",
	"McpResourceReadResponse.contents":            ofServers,
	"McpServerElicitationRequestParams.mode=form": "one type here, variants there",
	"McpServerStatus.resourceTemplates":           ofServers,
	"McpServerStatus.resources":                   ofServers,
	"McpServerStatus.tools":                       ofServers,
	"McpToolCallItem.appContext":                  alwaysNull,
	"McpToolCallItem.mcpAppResourceUri":           "older versions of the reference wrote it",
	"McpToolCallItem.mcpAppUi":                    alwaysNull,

	"AgentMessageItem.delivery":                  alwaysNull,
	"AgentMessageItem.memoryCitation":            alwaysNull,
	"AgentMessageItem.moderation":                alwaysNull,
	"AgentMessageItem.questions":                 alwaysNull,
	"Model.availabilityNux":                      alwaysNull,
	"Model.availableAccessPrograms":              alwaysNull,
	"Model.serviceTiers":                         "always empty",
	"Model.upgradeInfo":                          alwaysNull,
	"TextInput.text_elements":                    "given back as the client sent it",
	"Thread.contextTrimPoints":                   ofTrims,
	"ThreadCompactStartParams.strategy":          ofTrims,
	"ContextCompactedNotification.newTokenCount": ofTrims,
	"ContextCompactedNotification.oldTokenCount": ofTrims,
	"ContextCompactedNotification.strategy":      ofTrims,
	"TurnStartResponse.slashCommand":             "of our own slash commands",
	"Thread.section":                             alwaysNull,
	"Thread.source":                              foreign,
	"ThreadItem{*":                               foreign,
	"ThreadResumeResponse.collaborationMode":     alwaysNull,
	"TurnError.misalignment":                     alwaysNull,
	"ConfigLayerSource{*":                        "there are two layers only",
	"ConfigWarningNotification.range":            "the summary names the line; neither side writes it where it has none",
}
