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

// shapes returns the types with JSON methods of their own.
func shapes() map[reflect.Type]shape {
	return map[reflect.Type]shape{
		reflect.TypeFor[protocol.AskForApproval](): func(r *reflector) *Node {
			return either(
				words(protocol.ApprovalUntrusted, protocol.ApprovalOnRequest, protocol.ApprovalNever),
				object(Property{protocol.ApprovalGranular, r.of(reflect.TypeFor[protocol.GranularApproval]())}))
		},
		reflect.TypeFor[protocol.MultiAgentMode](): fixed(either(
			words(protocol.MultiAgentExplicit, protocol.MultiAgentProactive),
			object(Property{protocol.MultiAgentCustom, kind("string")}))),
		reflect.TypeFor[protocol.ApprovalsReviewer](): fixed(words("user", "auto_review", "guardian_subagent")),
		reflect.TypeFor[protocol.ApprovalDecision](): fixed(either(
			words(protocol.DecisionAccept, protocol.DecisionAcceptForSession, protocol.DecisionDecline, protocol.DecisionCancel),
			object(Property{protocol.DecisionAcceptWithAmendment,
				object(Property{"execpolicy_amendment", list(kind("string"))})}))),
		reflect.TypeFor[protocol.CodexErrorInfo](): fixed(either(
			words(errorWords...),
			httpError(protocol.ErrorHTTPConnectionFailed),
			httpError(protocol.ErrorStreamConnectionFailed),
			httpError(protocol.ErrorStreamDisconnected),
			httpError(protocol.ErrorTooManyFailedAttempts),
			object(Property{protocol.ErrorActiveTurnNotSteerable, object(Property{"turnKind", words("review", "compact")})}),
			kind("string"), &Node{Type: Kinds{"object"}, Values: anything()})),
		reflect.TypeFor[protocol.CommandAction](): fixed(either(
			action("read", Property{"name", kind("string")}, Property{"path", kind("string")}),
			action("listFiles", Property{"path", nullable(kind("string"))}),
			action("search", Property{"query", nullable(kind("string"))}, Property{"path", nullable(kind("string"))}),
			action("unknown"))),
		reflect.TypeFor[protocol.WebSearchAction](): fixed(either(
			object(Property{"type", words(protocol.WebSearchQuery)}, Property{"query", nullable(kind("string"))},
				Property{"queries", nullable(list(kind("string")))}),
			object(Property{"type", words(protocol.WebSearchOpenPage)}, Property{"url", nullable(kind("string"))}),
			object(Property{"type", words(protocol.WebSearchFindInPage)}, Property{"url", nullable(kind("string"))},
				Property{"pattern", nullable(kind("string"))}),
			object(Property{"type", words(protocol.WebSearchOther)}))),
		reflect.TypeFor[protocol.NotSentReason]():      fixed(words(protocol.NotSentReasons()...)),
		reflect.TypeFor[protocol.ContextReasonCode]():  fixed(words(protocol.ContextReasonCodes()...)),
		reflect.TypeFor[protocol.ContextWarningCode](): fixed(words(protocol.ContextWarningCodes()...)),
		reflect.TypeFor[protocol.ContextItemState]():   fixed(words(protocol.ContextItemStates()...)),
		reflect.TypeFor[protocol.ContextSent]():        fixed(words(protocol.ContextSentStates()...)),
		reflect.TypeFor[protocol.SuggestionReason]():   fixed(words(protocol.SuggestionReasons()...)),
		reflect.TypeFor[protocol.SuggestionRisk]():     fixed(words(protocol.SuggestionRisks()...)),
		reflect.TypeFor[protocol.ContextCategory]():    fixed(words(categoryWords()...)),
		reflect.TypeFor[protocol.PruneRange](): fixed(either(
			words(protocol.RangeAll),
			object(Property{protocol.RangeFirstTurns, turnCount()}),
			object(Property{protocol.RangeBeforeTurn, kind("string")}),
			object(Property{protocol.RangeKeepLastTurns, turnCount()}),
			object(Property{protocol.RangeKeepLastOutputs, turnCount()}))),
		reflect.TypeFor[protocol.ConfigLayerSource](): fixed(either(
			object(Property{"type", words(protocol.LayerUser)}, Property{"file", kind("string")},
				Property{"profile", nullable(kind("string"))}),
			object(Property{"type", words(protocol.LayerSystem)}, Property{"file", kind("string")}),
			object(Property{"type", words(protocol.LayerProject)}, Property{"dotCodexFolder", kind("string")}),
			object(Property{"type", words(protocol.LayerSessionFlags)}))),
		reflect.TypeFor[protocol.ProviderSettings](): func(r *reflector) *Node {
			return either(object(Property{"type", words("openai")}),
				object(Property{"type", words("customGateway")}, Property{"auth", r.of(reflect.TypeFor[protocol.GatewayAuth]())}))
		},
		reflect.TypeFor[protocol.ThreadItemCursor](): fixed(either(
			kind("string"), object(Property{"type", words("item")}, Property{"itemId", kind("string")}))),
		reflect.TypeFor[protocol.OneOrMany](): fixed(either(kind("string"), list(kind("string")))),
	}
}

// members returns the members whose Go type is wider than their values, and which no
// list of words describes. Of a list they are the elements.
func members() map[string]shape {
	return map[string]shape{
		"FileUpdateChange.kind": fixed(either(
			object(Property{"type", words("add")}),
			object(Property{"type", words("delete")}),
			object(Property{"type", words("update")}, Property{"move_path", nullable(kind("string"))}))),
		"CommandExecutionRequestApprovalParams.availableDecisions": func(r *reflector) *Node {
			return r.of(reflect.TypeFor[protocol.ApprovalDecision]())
		},
		"UserMessageItem.content": func(r *reflector) *Node {
			input := reflect.TypeFor[protocol.UserInput]()
			var tags []string
			for _, v := range r.unions[input].Variants {
				tags = append(tags, v.Tag)
			}
			return either(r.of(input), other(r.unions[input].Member, tags))
		},
	}
}

// nullableLists are lists for which the server sends null if there is no choice. An empty list has
// another meaning.
var nullableLists = []string{
	"ConfigReadResponse.layers",
	"Thread.environments",
	"McpServerInfo.icons",
	"DynamicToolCallItem.contentItems",
	"WebSearchItem.results",
	"CommandExecutionRequestApprovalParams.proposedExecpolicyAmendment",
}

// errorWords are the kinds of CodexErrorInfo without details: the kinds of this server, and the kinds
// in rollouts of the reference implementation.
var errorWords = []string{
	protocol.ErrorContextWindowExceeded, protocol.ErrorUsageLimitExceeded, protocol.ErrorServerOverloaded,
	protocol.ErrorInternalServer, protocol.ErrorUnauthorized, protocol.ErrorBadRequest,
	protocol.ErrorModelNotFound, protocol.ErrorSandbox, protocol.ErrorOther,
	protocol.ErrorCyberPolicy, "flexUnavailable", "inferenceHookDenied", "misalignmentPolicyViolation",
	"policyCapacityUnavailable", protocol.ErrorRateLimitExceeded, "sessionBudgetExceeded",
	"threadRollbackFailed", "tooManyDenials",
}

func categoryWords() (list []string) {
	for _, c := range protocol.ContextCategories() {
		list = append(list, string(c))
	}
	return list
}

func turnCount() *Node {
	n := kind("integer")
	n.Minimum = new(0)
	return object(Property{"count", n})
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
