package main

import (
	"reflect"

	"appserver/protocol"
)

// names are types that are called otherwise than in Go, where a client's language
// would mistake them for something of its own.
var names = map[reflect.Type]string{
	reflect.TypeFor[protocol.Error](): "ErrorObject",
	reflect.TypeFor[protocol.Kind]():  "ErrorKind",
}

// shape makes a node, with the definitions that it refers to.
type shape func(*reflector) *Node

// shapes are the types with JSON methods of their own.
func shapes() map[reflect.Type]shape {
	return map[reflect.Type]shape{
		reflect.TypeFor[protocol.AskForApproval](): func(r *reflector) *Node {
			return either(
				words(protocol.ApprovalUntrusted, protocol.ApprovalOnRequest, protocol.ApprovalNever),
				object(Property{protocol.ApprovalGranular, r.of(reflect.TypeFor[protocol.GranularApproval]())}))
		},
		reflect.TypeFor[protocol.ApprovalsReviewer](): fixed(words("user", "auto_review", "guardian_subagent")),
		reflect.TypeFor[protocol.ApprovalDecision](): fixed(either(
			words(protocol.DecisionAccept, protocol.DecisionAcceptForSession, protocol.DecisionDecline, protocol.DecisionCancel),
			object(Property{protocol.DecisionAcceptWithAmendment, object(Property{"execpolicy_amendment", list(kind("string"))})}))),
		reflect.TypeFor[protocol.CodexErrorInfo](): fixed(either(
			words(errorWords...),
			httpError(protocol.ErrorHTTPConnectionFailed),
			httpError(protocol.ErrorStreamConnectionFailed),
			httpError(protocol.ErrorStreamDisconnected),
			httpError(protocol.ErrorTooManyFailedAttempts),
			object(Property{protocol.ErrorActiveTurnNotSteerable, object(Property{"turnKind", words("review", "compact")})}),
			kind("string"))),
		reflect.TypeFor[protocol.CommandAction](): fixed(either(
			action("read", Property{"name", kind("string")}, Property{"path", kind("string")}),
			action("listFiles", Property{"path", nullable(kind("string"))}),
			action("search", Property{"query", nullable(kind("string"))}, Property{"path", nullable(kind("string"))}),
			action("unknown"))),
		reflect.TypeFor[protocol.ConfigLayerSource](): fixed(either(
			object(Property{"type", words(protocol.LayerUser)}, Property{"file", kind("string")}, Property{"profile", nullable(kind("string"))}),
			object(Property{"type", words(protocol.LayerSessionFlags)}))),
		reflect.TypeFor[protocol.OneOrMany](): fixed(either(kind("string"), list(kind("string")))),
	}
}

// members are the members whose Go type is wider than their values.
func members() map[string]shape {
	return map[string]shape{
		"AgentMessageItem.phase":        fixed(words("commentary", "partial_answer", "final_answer")),
		"CommandExecutionItem.source":   fixed(words("agent", "userShell", "unifiedExecStartup", "unifiedExecInteraction")),
		"ExternalSandbox.networkAccess": fixed(words("restricted", "enabled")),
		"FileChangeItem.status":         fixed(words("inProgress", "completed", "failed", "declined")),
		"FileUpdateChange.kind": fixed(either(
			object(Property{"type", words("add")}),
			object(Property{"type", words("delete")}),
			object(Property{"type", words("update")}, Property{"move_path", nullable(kind("string"))}))),
		"ImageInput.detail":              fixed(words(imageDetails...)),
		"LocalImageInput.detail":         fixed(words(imageDetails...)),
		"Model.multiAgentVersion":        fixed(words("disabled", "v1", "v2")),
		"Model.inputModalities":          fixed(list(words("text", "image", "audio"))),
		"StatusActive.activeFlags":       fixed(list(words(protocol.FlagWaitingOnApproval, "waitingOnUserInput"))),
		"Thread.historyMode":             fixed(words("legacy", protocol.HistoryPaginated)),
		"ThreadListParams.sortDirection": fixed(words("asc", "desc")),
		"ThreadListParams.sortKey":       fixed(words("created_at", "updated_at", "recency_at")),
		"ThreadListParams.sourceKinds": fixed(list(words("cli", "vscode", "exec", "appServer", "subAgent", "subAgentReview",
			"subAgentCompact", "subAgentThreadSpawn", "subAgentOther", "unknown"))),
		"ThreadUnsubscribeResponse.status":           fixed(words("notLoaded", "notSubscribed", "unsubscribed")),
		"Turn.itemsView":                             fixed(words(protocol.ItemsNotLoaded, protocol.ItemsSummary, protocol.ItemsFull)),
		"TurnPlanStep.status":                        fixed(words("pending", "inProgress", "completed")),
		"TurnStartParams.summary":                    fixed(words("auto", "concise", "detailed", "none")),
		"CommandExecutionRequestApprovalParams.kind": fixed(words("command")),
		"CommandExecutionRequestApprovalParams.availableDecisions": func(r *reflector) *Node {
			return list(r.of(reflect.TypeFor[protocol.ApprovalDecision]()))
		},
	}
}

// defaults are members without omitempty that clients may leave out all the same.
var defaults = map[string]any{
	"GranularApproval.skill_approval":      false,
	"GranularApproval.request_permissions": false,
	"TextInput.text_elements":              []string{},
	"ReadOnly.networkAccess":               false,
	"ExternalSandbox.networkAccess":        "restricted",
	"WorkspaceWrite.writableRoots":         []string{},
	"WorkspaceWrite.networkAccess":         false,
	"WorkspaceWrite.excludeTmpdirEnvVar":   false,
	"WorkspaceWrite.excludeSlashTmp":       false,
}

// nullableLists are lists that the server sends as null where there is nothing to
// choose from, which is not the same as an empty list.
var nullableLists = []string{
	"ConfigReadResponse.layers",
	"CommandExecutionRequestApprovalParams.proposedExecpolicyAmendment",
}

var imageDetails = []string{"auto", "low", "high", "original"}

// errorWords are the kinds of CodexErrorInfo without details: those that this
// server gives, and those that rollouts of the reference implementation hold.
var errorWords = []string{
	protocol.ErrorContextWindowExceeded, protocol.ErrorUsageLimitExceeded, protocol.ErrorServerOverloaded,
	protocol.ErrorInternalServer, protocol.ErrorUnauthorized, protocol.ErrorBadRequest,
	protocol.ErrorModelNotFound, protocol.ErrorSandbox, protocol.ErrorOther,
	"cyberPolicy", "flexUnavailable", "inferenceHookDenied", "misalignmentPolicyViolation",
	"policyCapacityUnavailable", "rateLimitExceeded", "sessionBudgetExceeded",
	"threadRollbackFailed", "tooManyDenials",
}

func fixed(n *Node) shape {
	return func(*reflector) *Node { return n }
}

func action(name string, members ...Property) *Node {
	return object(append([]Property{{"type", words(name)}, {"command", kind("string")}}, members...)...)
}

func httpError(word string) *Node {
	return object(Property{word, object(Property{"httpStatusCode", nullable(kind("integer"))})})
}
