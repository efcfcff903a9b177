package protocol

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Caller identifies a request of a client: a connection, and the number that the server gave the
// request. The zero Caller gets no response.
type Caller struct{ Conn, Request uint64 }

// Handler serves the methods. A method returns an error to refuse; otherwise the
// answer goes to the caller, now or later, exactly once.
type Handler interface {
	Initialize(to Caller, p *InitializeParams) error
	ThreadStart(to Caller, p *ThreadStartParams) error
	ThreadResume(to Caller, p *ThreadResumeParams) error
	ThreadFork(to Caller, p *ThreadForkParams) error
	ThreadRead(to Caller, p *ThreadReadParams) error
	ThreadList(to Caller, p *ThreadListParams) error
	ThreadSearch(to Caller, p *ThreadSearchParams) error
	ThreadSearchOccurrences(to Caller, p *ThreadSearchOccurrencesParams) error
	ThreadLoadedList(to Caller, p *ThreadLoadedListParams) error
	ServerRequestList(to Caller, p *ServerRequestListParams) error
	ThreadTimelineList(to Caller, p *ThreadTimelineListParams) error
	ThreadItemRead(to Caller, p *ThreadItemReadParams) error
	ThreadTurnsList(to Caller, p *ThreadTurnsListParams) error
	ThreadItemsList(to Caller, p *ThreadItemsListParams) error
	ThreadUsageList(to Caller, p *ThreadUsageListParams) error
	ThreadUnsubscribe(to Caller, p *ThreadUnsubscribeParams) error
	ThreadSetName(to Caller, p *ThreadSetNameParams) error
	ThreadRevert(to Caller, p *ThreadRevertParams) error
	ThreadRevertUndo(to Caller, p *ThreadRevertUndoParams) error
	ThreadRollback(to Caller, p *ThreadRollbackParams) error
	ThreadMetadataUpdate(to Caller, p *ThreadMetadataUpdateParams) error
	ThreadMemoryModeSet(to Caller, p *ThreadMemoryModeSetParams) error
	ThreadInjectItems(to Caller, p *ThreadInjectItemsParams) error
	ThreadDelete(to Caller, p *ThreadDeleteParams) error
	ThreadArchive(to Caller, p *ThreadArchiveParams) error
	ThreadUnarchive(to Caller, p *ThreadUnarchiveParams) error
	ThreadArchiveAndNew(to Caller, p *ThreadArchiveAndNewParams) error
	ThreadDiffRead(to Caller, p *ThreadDiffReadParams) error
	ThreadCheckpointList(to Caller, p *ThreadCheckpointListParams) error
	ThreadCheckpointDiff(to Caller, p *ThreadCheckpointDiffParams) error
	ThreadCheckpointRevert(to Caller, p *ThreadCheckpointRevertParams) error
	TurnStart(to Caller, p *TurnStartParams) error
	TurnSteer(to Caller, p *TurnSteerParams) error
	TurnInterrupt(to Caller, p *TurnInterruptParams) error
	ContextGetItems(to Caller, p *ContextGetItemsParams) error
	ContextReadItem(to Caller, p *ContextReadItemParams) error
	ContextSearch(to Caller, p *ContextSearchParams) error
	ContextGetUsage(to Caller, p *ContextGetUsageParams) error
	// ContextEdit serves the method of each ContextOperation.
	ContextEdit(to Caller, r ContextRequest, o ContextOperationVariant) error
	ContextPreview(to Caller, p *ContextPreviewParams) error
	ContextGetPrompt(to Caller, p *ContextGetPromptParams) error
	ContextSuggest(to Caller, p *ContextSuggestParams) error
	ContextApply(to Caller, p *ContextApplyParams) error
	ContextUndo(to Caller, p *ContextUndoParams) error
	ContextRedo(to Caller, p *ContextRedoParams) error
	ContextGoto(to Caller, p *ContextGotoParams) error
	ContextListEdits(to Caller, p *ContextListEditsParams) error
	ContextRestore(to Caller, p *ContextRestoreParams) error
	MemoryStatus(to Caller, p *MemoryStatusParams) error
	MemorySearch(to Caller, p *MemorySearchParams) error
	MemoryList(to Caller, p *MemoryListParams) error
	MemoryForget(to Caller, p *MemoryForgetParams) error
	MemoryIndexPause(to Caller, p *MemoryIndexPauseParams) error
	MemoryReset(to Caller, p *MemoryResetParams) error
	RolloutCompress(to Caller, p *RolloutCompressParams) error
	ThreadContextTrim(to Caller, p *ThreadContextTrimParams) error
	ThreadContextSummarize(to Caller, p *ThreadContextSummarizeParams) error
	ReviewStart(to Caller, p *ReviewStartParams) error
	ThreadShellCommand(to Caller, p *ThreadShellCommandParams) error
	ThreadBackgroundTerminalsList(to Caller, p *ThreadBackgroundTerminalsListParams) error
	ThreadBackgroundTerminalsTerminate(to Caller, p *ThreadBackgroundTerminalsTerminateParams) error
	ThreadBackgroundTerminalsClean(to Caller, p *ThreadBackgroundTerminalsCleanParams) error
	ThreadCompactStart(to Caller, p *ThreadCompactStartParams) error
	ThreadCompactPropose(to Caller, p *ThreadCompactProposeParams) error
	ThreadCompactCommit(to Caller, p *ThreadCompactCommitParams) error
	ThreadCompactCancel(to Caller, p *ThreadCompactCancelParams) error
	SlashCommandList(to Caller, p *SlashCommandListParams) error
	SlashCommandParse(to Caller, p *SlashCommandParseParams) error
	SlashCommandExecute(to Caller, p *SlashCommandExecuteParams) error
	ModelList(to Caller, p *ModelListParams) error
	ModelProviderProbe(to Caller, p *ModelProviderProbeParams) error
	ModelProviderList(to Caller, p *ModelProviderListParams) error
	ModelProviderCapabilitiesRead(to Caller, p *ModelProviderCapabilitiesReadParams) error
	ModelProviderConfigWrite(to Caller, p *ModelProviderConfigWriteParams) error
	ModelProviderDefaultSet(to Caller, p *ModelProviderDefaultSetParams) error
	ModelProviderKeyWrite(to Caller, p *ModelProviderKeyWriteParams) error
	ModelProviderKeyDelete(to Caller, p *ModelProviderKeyDeleteParams) error
	SkillsList(to Caller, p *SkillsListParams) error
	SkillsExtraRootsSet(to Caller, p *SkillsExtraRootsSetParams) error
	HooksList(to Caller, p *HooksListParams) error
	GetAccount(to Caller, p *GetAccountParams) error
	GetAuthStatus(to Caller, p *GetAuthStatusParams) error
	LoginAccount(to Caller, p *LoginAccountParams) error
	CancelLoginAccount(to Caller, p *CancelLoginAccountParams) error
	LogoutAccount(to Caller, p *LogoutAccountParams) error
	GetAccountRateLimits(to Caller, p *GetAccountRateLimitsParams) error
	ExperimentalFeatureList(to Caller, p *ExperimentalFeatureListParams) error
	CollaborationModeList(to Caller, p *CollaborationModeListParams) error
	PermissionProfileList(to Caller, p *PermissionProfileListParams) error
	ConfigRequirementsRead(to Caller, p *ConfigRequirementsReadParams) error
	ConfigValueWrite(to Caller, p *ConfigValueWriteParams) error
	ConfigBatchWrite(to Caller, p *ConfigBatchWriteParams) error
	ConfigRead(to Caller, p *ConfigReadParams) error
	ListMcpServerStatus(to Caller, p *ListMcpServerStatusParams) error
	McpServerToolCall(to Caller, p *McpServerToolCallParams) error
	McpResourceRead(to Caller, p *McpResourceReadParams) error
	McpServerRefresh(to Caller, p *McpServerRefreshParams) error
	McpServerOauthLogin(to Caller, p *McpServerOauthLoginParams) error
	FolderInspect(to Caller, p *FolderInspectParams) error
	FsReadFile(to Caller, p *FsReadFileParams) error
	FsWriteFile(to Caller, p *FsWriteFileParams) error
	FsCreateDirectory(to Caller, p *FsCreateDirectoryParams) error
	FsGetMetadata(to Caller, p *FsGetMetadataParams) error
	FsReadDirectory(to Caller, p *FsReadDirectoryParams) error
	FsRemove(to Caller, p *FsRemoveParams) error
	FsCopy(to Caller, p *FsCopyParams) error
	FsWatch(to Caller, p *FsWatchParams) error
	FsUnwatch(to Caller, p *FsUnwatchParams) error
	FuzzyFileSearch(to Caller, p *FuzzyFileSearchParams) error
	FuzzyFileSearchSessionStart(to Caller, p *FuzzyFileSearchSessionStartParams) error
	FuzzyFileSearchSessionUpdate(to Caller, p *FuzzyFileSearchSessionUpdateParams) error
	FuzzyFileSearchSessionStop(to Caller, p *FuzzyFileSearchSessionStopParams) error
	CommandExec(to Caller, p *CommandExecParams) error
	CommandExecWrite(to Caller, p *CommandExecWriteParams) error
	CommandExecResize(to Caller, p *CommandExecResizeParams) error
	CommandExecTerminate(to Caller, p *CommandExecTerminateParams) error
	ServerDiagnostics(to Caller, p *ServerDiagnosticsParams) error
}

// Method is a row of the method table.
type Method struct {
	Name   string
	Params reflect.Type
	Result reflect.Type
	Doc    string
	// BeforeInitialize is set if the method may be called before initialize.
	BeforeInitialize bool
	// Own is set if the reference implementation does not have the method, or has it among its
	// experimental ones only, which may change.
	Own bool
	// Gated is set for methods that a client may call only with the capability experimentalApi.
	Gated bool
	// Experimental lists members of the params that a client may use only with the
	// capability experimentalApi.
	Experimental []string
	// Urgent is set for methods that end work. Under overload, the server still accepts some of
	// their requests.
	Urgent bool
	// Subscribes is set if the method can subscribe the caller to the thread of its result.
	// Unsubscribes is set if it ends the subscription to the thread of its params.
	Subscribes, Unsubscribes bool
	// StartsTurn is set if the method can start a turn. If the result names the turn, it does so as turn.
	StartsTurn bool
	// NewThread is set if the method makes the thread that it is for, so that its params name none.
	NewThread bool
	// ByTurn is set if the params can name a turn without its thread.
	ByTurn bool
	// Serve decodes params and calls the handler. Absent params are read as {}.
	Serve func(h Handler, to Caller, params json.RawMessage) error
}

func method[P, R any](name string, serve func(Handler, Caller, *P) error, doc string) Method {
	return Method{
		Name: name, Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](), Doc: doc,
		Serve: func(h Handler, to Caller, params json.RawMessage) error {
			p := new(P)
			if err := decodeServed(params, p); err != nil {
				return err
			}
			return serve(h, to, p)
		},
	}
}

func (m Method) urgent() Method {
	m.Urgent = true
	return m
}

func (m Method) subscribes() Method {
	m.Subscribes = true
	return m
}

func (m Method) unsubscribes() Method {
	m.Unsubscribes = true
	return m
}

func (m Method) startsTurn() Method {
	m.StartsTurn = true
	return m
}

func (m Method) newThread() Method {
	m.NewThread = true
	return m
}

func (m Method) byTurn() Method {
	m.ByTurn = true
	return m
}

func (m Method) beforeInitialize() Method {
	m.BeforeInitialize = true
	return m
}

func (m Method) own() Method {
	m.Own = true
	return m
}

// gated marks a method of the experimental schema that is served as the reference
// implementation serves it.
func (m Method) gated() Method {
	m.Own, m.Gated = true, true
	return m
}

func (m Method) experimental(members ...string) Method {
	m.Experimental = members
	return m
}

// editMethods returns the methods of the operations on the context.
func editMethods() (list []Method) {
	for _, row := range contextEdits() {
		list = append(list, Method{Name: row.method(), Params: row.params, Result: row.result, Doc: row.doc,
			Serve: func(h Handler, to Caller, params json.RawMessage) error {
				r, o, err := row.decode(params)
				if err != nil {
					return err
				}
				return h.ContextEdit(to, r, o)
			}}.own())
	}
	return list
}

// MethodFor returns the method whose params have the type P, which no other method has. The zero value is for types
// that are no params.
func MethodFor[P any]() Method {
	for _, m := range Methods() {
		if m.Params == reflect.TypeFor[P]() {
			return m
		}
	}
	return Method{}
}

// Methods returns the table of methods.
func Methods() []Method { return slices.Concat(earlierMethods(), editMethods(), laterMethods()) }

// earlierMethods returns the rows before the edits of the context.
func earlierMethods() []Method {
	return []Method{
		method[InitializeParams, InitializeResponse]("initialize", Handler.Initialize,
			"Opens the connection. All other requests before it are rejected.").beforeInitialize(),
		method[ThreadStartParams, ThreadStartResponse]("thread/start", Handler.ThreadStart,
			"Starts a thread and subscribes the caller to it.").newThread().subscribes().
			experimental("allowProviderModelFallback", "daybreakEnabled", "dynamicTools", "environments",
				"experimentalRawEvents",
				"historyMode", "mockExperimentalField", "multiAgentMode", "permissions", "projectId", "runtimeWorkspaceRoots",
				"selectedCapabilityRoots"),
		method[ThreadResumeParams, ThreadResumeResponse]("thread/resume", Handler.ThreadResume,
			"Loads a stored thread, or joins a loaded one, and subscribes the caller to it.").subscribes().
			experimental("history", "initialTurnsPage", "path", "permissions", "runtimeWorkspaceRoots"),
		method[ThreadForkParams, ThreadForkResponse]("thread/fork", Handler.ThreadFork,
			"Starts a thread with the history of another one, and subscribes the caller to it.").subscribes().
			experimental("attachToSource", "beforeTurnId", "deferGoalContinuation", "experimentalDisablePredictionMcp",
				"experimentalPredictionMode", "path", "permissions", "runtimeWorkspaceRoots"),
		method[ThreadReadParams, ThreadReadResponse]("thread/read", Handler.ThreadRead,
			"Reads a thread without loading it."),
		method[ThreadListParams, ThreadListResponse]("thread/list", Handler.ThreadList,
			"Lists stored threads, newest first.").
			experimental("ancestorThreadId", "attachedToThreadId", "includeAttachedThreads", "parentThreadId", "projectId"),
		method[ThreadSearchParams, ThreadSearchResponse]("thread/search", Handler.ThreadSearch,
			"Finds stored threads by the text of their messages, with a snippet of each.").own(),
		method[ThreadSearchOccurrencesParams, ThreadSearchOccurrencesResponse]("thread/searchOccurrences",
			Handler.ThreadSearchOccurrences, "Finds each occurrence of a text in a thread.").gated(),
		method[ThreadLoadedListParams, ThreadLoadedListResponse]("thread/loaded/list", Handler.ThreadLoadedList,
			"Lists the ids of loaded threads."),
		method[ServerRequestListParams, ServerRequestListResponse]("serverRequest/list", Handler.ServerRequestList,
			"Lists the requests of the server that no client has answered, of all loaded threads.").own(),
		method[ThreadTimelineListParams, ThreadTimelineListResponse]("thread/timeline/list", Handler.ThreadTimelineList,
			"Lists items, turns and trim points in the order of the rollout, newest page first.").own(),
		method[ThreadItemReadParams, ThreadItemReadResponse]("thread/item/read", Handler.ThreadItemRead,
			"Returns one item of a thread in full.").own(),
		method[ThreadTurnsListParams, ThreadTurnsListResponse]("thread/turns/list", Handler.ThreadTurnsList,
			"Lists the turns of a thread in pages, newest first."),
		method[ThreadItemsListParams, ThreadItemsListResponse]("thread/items/list", Handler.ThreadItemsList,
			"Lists the items of a thread or of a turn in pages, oldest first."),
		method[ThreadUsageListParams, ThreadUsageListResponse]("thread/usage/list", Handler.ThreadUsageList,
			"Lists the model requests of a thread with their tokens in pages, newest first.").own(),
		method[ThreadUnsubscribeParams, ThreadUnsubscribeResponse]("thread/unsubscribe", Handler.ThreadUnsubscribe,
			"Stops the notifications of a thread to the caller.").unsubscribes(),
		method[ThreadSetNameParams, Empty]("thread/name/set", Handler.ThreadSetName,
			"Sets the name of a thread."),
		method[ThreadRevertParams, ThreadRevertResponse]("thread/revert", Handler.ThreadRevert,
			"Removes a turn and all later turns from a thread."),
		method[ThreadRevertUndoParams, ThreadRevertUndoResponse]("thread/revert/undo", Handler.ThreadRevertUndo,
			"Brings back the turns that the last revert removed, until the next turn.").own(),
		method[ThreadRollbackParams, ThreadRollbackResponse]("thread/rollback", Handler.ThreadRollback,
			"Removes the last turns from a thread.").own(),
		method[ThreadMetadataUpdateParams, ThreadMetadataUpdateResponse]("thread/metadata/update",
			Handler.ThreadMetadataUpdate,
			"Changes the git information of a thread.").experimental("projectId", "daybreakEnabled"),
		method[ThreadInjectItemsParams, Empty]("thread/inject_items", Handler.ThreadInjectItems,
			"Adds items to the model's input history."),
		method[ThreadDeleteParams, Empty]("thread/delete", Handler.ThreadDelete,
			"Deletes a thread."),
		method[ThreadArchiveParams, Empty]("thread/archive", Handler.ThreadArchive,
			"Unloads a thread and moves it to the archive."),
		method[ThreadUnarchiveParams, ThreadUnarchiveResponse]("thread/unarchive", Handler.ThreadUnarchive,
			"Moves a thread back from the archive."),
		method[ThreadArchiveAndNewParams, ThreadArchiveAndNewResponse]("thread/archiveAndNew", Handler.ThreadArchiveAndNew,
			"Archives a thread and starts another one with the same settings, without its history.").own().subscribes(),
		method[ThreadDiffReadParams, ThreadDiffReadResponse]("thread/diff/read", Handler.ThreadDiffRead,
			"Returns the diff of the files that a turn, or all turns, changed.").own(),
		method[ThreadCheckpointListParams, ThreadCheckpointListResponse]("thread/checkpoint/list",
			Handler.ThreadCheckpointList, "Lists the checkpoints of a thread.").own(),
		method[ThreadCheckpointDiffParams, ThreadCheckpointDiffResponse]("thread/checkpoint/diff",
			Handler.ThreadCheckpointDiff, "Compares the files with a checkpoint.").own(),
		method[ThreadCheckpointRevertParams, ThreadCheckpointRevertResponse]("thread/checkpoint/revert",
			Handler.ThreadCheckpointRevert,
			"Undoes the changes of turns in the files, the conversation, or both.").own(),
		method[TurnStartParams, TurnStartResponse]("turn/start", Handler.TurnStart,
			"Starts a turn with the user's input, or adds the input to the active turn.").startsTurn().
			experimental("additionalContext", "collaborationMode", "cyberAccessProgram", "environments", "multiAgentMode",
				"permissions", "responsesapiClientMetadata", "responsesapiClientMetadataPatch", "runtimeWorkspaceRoots"),
		method[TurnSteerParams, TurnSteerResponse]("turn/steer", Handler.TurnSteer,
			"Adds input to the active turn.").
			experimental("additionalContext", "responsesapiClientMetadata", "responsesapiClientMetadataPatch"),
		method[TurnInterruptParams, Empty]("turn/interrupt", Handler.TurnInterrupt,
			"Interrupts the active turn and ends everything that it started.").urgent().byTurn(),
		method[ContextGetItemsParams, ContextGetItemsResponse]("context/getItems", Handler.ContextGetItems,
			"Lists the context items with their prices.").own(),
		method[ContextReadItemParams, ContextReadItemResponse]("context/readItem", Handler.ContextReadItem,
			"Returns one context item in full, as it is sent and as it was.").own(),
		method[ContextSearchParams, ContextSearchResponse]("context/search", Handler.ContextSearch,
			"Finds a text, or a regular expression, in the whole texts of the context.").own(),
		method[ContextGetUsageParams, ContextGetUsageResponse]("context/getUsage", Handler.ContextGetUsage,
			"Returns the price of the context.").own(),
	}
}

// laterMethods returns the rows behind the edits of the context.
func laterMethods() []Method {
	return []Method{
		method[ContextPreviewParams, ContextPreviewResponse]("context/preview", Handler.ContextPreview,
			"Returns the price before and after edits, and changes nothing.").own(),
		method[ContextGetPromptParams, ContextGetPromptResponse]("context/getPrompt", Handler.ContextGetPrompt,
			"Returns the next model request as it would be sent.").own(),
		method[ContextSuggestParams, ContextSuggestResponse]("context/suggest", Handler.ContextSuggest,
			"Suggests items that the next requests can do without, with their net price.").own(),
		method[ContextApplyParams, ContextApplyResponse]("context/apply", Handler.ContextApply,
			"Makes several edits as one, now or at the end of the turn.").own(),
		method[ContextUndoParams, ContextUndoResponse]("context/undo", Handler.ContextUndo,
			"Undoes the last context edit.").own(),
		method[ContextRedoParams, ContextRedoResponse]("context/redo", Handler.ContextRedo,
			"Redoes the context edit that was undone last.").own(),
		method[ContextGotoParams, ContextGotoResponse]("context/goto", Handler.ContextGoto,
			"Undoes or redoes edits, up to a revision.").own(),
		method[ContextListEditsParams, ContextListEditsResponse]("context/listEdits", Handler.ContextListEdits,
			"Lists the context edits.").own(),
		method[ContextRestoreParams, ContextRestoreResponse]("context/restore", Handler.ContextRestore,
			"Restores the full context.").own(),
		method[ThreadContextTrimParams, ThreadContextTrimResponse]("thread/context/trim", Handler.ThreadContextTrim,
			"Takes turns out of the context, all or all except the last ones.").own(),
		method[ThreadContextSummarizeParams, ThreadContextSummarizeResponse]("thread/context/summarize",
			Handler.ThreadContextSummarize, "Sets the summary of a trim point.").own(),
		method[ReviewStartParams, ReviewStartResponse]("review/start", Handler.ReviewStart,
			"Starts a turn that reviews changes.").startsTurn().subscribes(),
		method[ThreadShellCommandParams, Empty]("thread/shellCommand", Handler.ThreadShellCommand,
			"Runs a command of the user outside of the sandbox, and gives its output to the model.").startsTurn(),
		method[ThreadBackgroundTerminalsListParams, ThreadBackgroundTerminalsListResponse]("thread/backgroundTerminals/list",
			Handler.ThreadBackgroundTerminalsList, "Lists the commands that run in the background.").gated(),
		method[ThreadBackgroundTerminalsTerminateParams,
			ThreadBackgroundTerminalsTerminateResponse]("thread/backgroundTerminals/terminate",
			Handler.ThreadBackgroundTerminalsTerminate, "Ends a command that runs in the background.").gated(),
		method[ThreadBackgroundTerminalsCleanParams, Empty]("thread/backgroundTerminals/clean",
			Handler.ThreadBackgroundTerminalsClean, "Ends all commands that run in the background.").gated(),
		method[ThreadCompactStartParams, Empty]("thread/compact/start", Handler.ThreadCompactStart,
			"Starts a turn that compacts the context.").startsTurn(),
		method[ThreadCompactProposeParams, ThreadCompactProposeResponse]("thread/compact/propose",
			Handler.ThreadCompactPropose, "Drafts a compaction, and lists the facts that it would lose.").own(),
		method[ThreadCompactCommitParams, ThreadCompactCommitResponse]("thread/compact/commit", Handler.ThreadCompactCommit,
			"Applies the compaction of a draft, with its text or an edited one.").own(),
		method[ThreadCompactCancelParams, ThreadCompactCancelResponse]("thread/compact/cancel", Handler.ThreadCompactCancel,
			"Drops the draft of a compaction, also while the model writes it.").own(),
		method[SlashCommandListParams, SlashCommandListResponse]("slashCommand/list", Handler.SlashCommandList,
			"Lists the slash commands.").own(),
		method[SlashCommandParseParams, SlashCommandParseResponse]("slashCommand/parse", Handler.SlashCommandParse,
			"Parses a text as a slash command.").own(),
		method[SlashCommandExecuteParams, SlashCommandExecuteResponse]("slashCommand/execute", Handler.SlashCommandExecute,
			"Executes a slash command.").own().startsTurn().subscribes(),
		method[ModelListParams, ModelListResponse]("model/list", Handler.ModelList,
			"Lists the models that turns can use."),
		method[ModelProviderProbeParams, ModelProviderProbeResponse]("model/provider/probe", Handler.ModelProviderProbe,
			"Checks the address, the key and the models of a provider, and can ask a model for a short answer.").own(),
		method[ModelProviderListParams, ModelProviderListResponse]("modelProvider/list", Handler.ModelProviderList,
			"Lists the providers of models."),
		method[ModelProviderCapabilitiesReadParams, ModelProviderCapabilitiesReadResponse]("modelProvider/capabilities/read",
			Handler.ModelProviderCapabilitiesRead, "Lists the tools that run at the provider: none."),
		method[ModelProviderConfigWriteParams, ModelProviderConfigWriteResponse]("modelProvider/config/write",
			Handler.ModelProviderConfigWrite, "Adds a provider to the user's configuration, or changes one."),
		method[ModelProviderDefaultSetParams, ConfigWriteResponse]("modelProvider/default/set",
			Handler.ModelProviderDefaultSet, "Sets the provider of new threads in the user's configuration.").own(),
		method[ModelProviderKeyWriteParams, ModelProviderKeyWriteResponse]("modelProvider/key/write",
			Handler.ModelProviderKeyWrite, "Stores the key of a provider.").own(),
		method[ModelProviderKeyDeleteParams, ModelProviderKeyDeleteResponse]("modelProvider/key/delete",
			Handler.ModelProviderKeyDelete, "Removes the stored key of a provider.").own(),
		method[SkillsListParams, SkillsListResponse]("skills/list", Handler.SkillsList,
			"Lists the skills of a working directory."),
		method[SkillsExtraRootsSetParams, Empty]("skills/extraRoots/set", Handler.SkillsExtraRootsSet,
			"Sets additional folders with skills."),
		method[HooksListParams, HooksListResponse]("hooks/list", Handler.HooksList,
			"Lists hooks: none, because no hooks are run."),
		method[GetAccountParams, GetAccountResponse]("account/read", Handler.GetAccount,
			"Returns the account of the user, and whether one is needed."),
		method[GetAuthStatusParams, GetAuthStatusResponse]("getAuthStatus", Handler.GetAuthStatus,
			"Returns the kind of the login, and its token on request. It is an older form of account/read.").own(),
		method[LoginAccountParams, LoginAccountResponse]("account/login/start", Handler.LoginAccount,
			"Signs the user in. A login in the browser or with a code ends with account/login/completed."),
		method[CancelLoginAccountParams, CancelLoginAccountResponse]("account/login/cancel", Handler.CancelLoginAccount,
			"Cancels a login that waits for the user."),
		method[LogoutAccountParams, Empty]("account/logout", Handler.LogoutAccount,
			"Removes the login, and revokes its tokens."),
		method[GetAccountRateLimitsParams, GetAccountRateLimitsResponse]("account/rateLimits/read",
			Handler.GetAccountRateLimits, "Reads the limits of a ChatGPT account."),
		method[ExperimentalFeatureListParams, ExperimentalFeatureListResponse]("experimentalFeature/list",
			Handler.ExperimentalFeatureList, "Lists the feature switches of the configuration."),
		method[CollaborationModeListParams, CollaborationModeListResponse]("collaborationMode/list",
			Handler.CollaborationModeList, "Lists the modes that turns can be in.").gated(),
		method[PermissionProfileListParams, PermissionProfileListResponse]("permissionProfile/list",
			Handler.PermissionProfileList, "Lists the profiles of permissions."),
		method[ConfigRequirementsReadParams, ConfigRequirementsReadResponse]("configRequirements/read",
			Handler.ConfigRequirementsRead, "Returns an administrator's requirements on the configuration: none."),
		method[ConfigValueWriteParams, ConfigWriteResponse]("config/value/write", Handler.ConfigValueWrite,
			"Sets a value of the user's configuration."),
		method[ConfigBatchWriteParams, ConfigWriteResponse]("config/batchWrite", Handler.ConfigBatchWrite,
			"Sets values of the user's configuration, all or none."),
		method[ConfigReadParams, ConfigReadResponse]("config/read", Handler.ConfigRead,
			"Reads the effective configuration and the origin of its values."),
		method[ListMcpServerStatusParams, ListMcpServerStatusResponse]("mcpServerStatus/list", Handler.ListMcpServerStatus,
			"Lists the MCP servers, their tools and resources."),
		method[McpServerToolCallParams, McpServerToolCallResponse]("mcpServer/tool/call", Handler.McpServerToolCall,
			"Calls a tool of an MCP server, without the model."),
		method[McpResourceReadParams, McpResourceReadResponse]("mcpServer/resource/read", Handler.McpResourceRead,
			"Reads a resource of an MCP server."),
		method[McpServerRefreshParams, Empty]("config/mcpServer/reload", Handler.McpServerRefresh,
			"Reads the configuration again, and connects to its MCP servers."),
		method[McpServerOauthLoginParams, McpServerOauthLoginResponse]("mcpServer/oauth/login", Handler.McpServerOauthLogin,
			"Begins a login at an MCP server. The client opens the address for the user."),
		method[ThreadMemoryModeSetParams, Empty]("thread/memoryMode/set", Handler.ThreadMemoryModeSet,
			"Turns the memory of a thread off or on.").gated(),
		method[MemoryStatusParams, MemoryStatusResponse]("memory/status", Handler.MemoryStatus,
			"Returns the state of the memory.").own(),
		method[MemorySearchParams, MemorySearchResponse]("memory/search", Handler.MemorySearch,
			"Searches the memory of a repository.").own(),
		method[MemoryListParams, MemoryListResponse]("memory/list", Handler.MemoryList,
			"Lists the summaries in the memory.").own(),
		method[MemoryForgetParams, MemoryForgetResponse]("memory/forget", Handler.MemoryForget,
			"Removes the named entries from the memory.").own(),
		method[MemoryIndexPauseParams, MemoryIndexPauseResponse]("memory/index/pause", Handler.MemoryIndexPause,
			"Pauses or continues the indexing of a repository's files.").own(),
		method[MemoryResetParams, Empty]("memory/reset", Handler.MemoryReset,
			"Removes everything from the memory.").own(),
		method[RolloutCompressParams, Empty]("rollout/compress", Handler.RolloutCompress,
			"Starts the compression of old rollouts.").gated(),
		method[FolderInspectParams, FolderInspectResponse]("folder/inspect", Handler.FolderInspect,
			"Completes the path of a folder for threads, and returns whether the user trusts it.").own(),
		method[FsReadFileParams, FsReadFileResponse]("fs/readFile", Handler.FsReadFile,
			"Reads a file."),
		method[FsWriteFileParams, Empty]("fs/writeFile", Handler.FsWriteFile,
			"Writes a file."),
		method[FsCreateDirectoryParams, Empty]("fs/createDirectory", Handler.FsCreateDirectory,
			"Creates a directory."),
		method[FsGetMetadataParams, FsGetMetadataResponse]("fs/getMetadata", Handler.FsGetMetadata,
			"Returns the type and the times of a path."),
		method[FsReadDirectoryParams, FsReadDirectoryResponse]("fs/readDirectory", Handler.FsReadDirectory,
			"Lists a directory."),
		method[FsRemoveParams, Empty]("fs/remove", Handler.FsRemove,
			"Removes a file, or a directory with its content."),
		method[FsCopyParams, Empty]("fs/copy", Handler.FsCopy,
			"Copies a file, or a directory with its content."),
		method[FsWatchParams, FsWatchResponse]("fs/watch", Handler.FsWatch,
			"Starts a watch of a file or a directory."),
		method[FsUnwatchParams, Empty]("fs/unwatch", Handler.FsUnwatch,
			"Ends a watch."),
		method[FuzzyFileSearchParams, FuzzyFileSearchResponse]("fuzzyFileSearch", Handler.FuzzyFileSearch,
			"Finds files by parts of their paths."),
		method[FuzzyFileSearchSessionStartParams, Empty]("fuzzyFileSearch/sessionStart", Handler.FuzzyFileSearchSessionStart,
			"Starts a search session for successive queries.").gated(),
		method[FuzzyFileSearchSessionUpdateParams, Empty]("fuzzyFileSearch/sessionUpdate",
			Handler.FuzzyFileSearchSessionUpdate, "Changes the query of a search session.").gated(),
		method[FuzzyFileSearchSessionStopParams, Empty]("fuzzyFileSearch/sessionStop", Handler.FuzzyFileSearchSessionStop,
			"Ends a search session.").gated(),
		method[CommandExecParams, CommandExecResponse]("command/exec", Handler.CommandExec,
			"Runs a command without a thread.").experimental("permissionProfile"),
		method[CommandExecWriteParams, Empty]("command/exec/write", Handler.CommandExecWrite,
			"Writes to the input of a command."),
		method[CommandExecResizeParams, Empty]("command/exec/resize", Handler.CommandExecResize,
			"Resizes the terminal of a command."),
		method[CommandExecTerminateParams, Empty]("command/exec/terminate", Handler.CommandExecTerminate,
			"Ends a command."),
		method[ServerDiagnosticsParams, ServerDiagnosticsResponse]("server/diagnostics", Handler.ServerDiagnostics,
			"Returns the state of the server: memory, clients, threads, index, sandbox.").own(),
	}
}

// ServerRequest is a row of the table of requests that the server sends.
type ServerRequest struct {
	Name   string
	Params reflect.Type
	Result reflect.Type
	Doc    string
}

// MethodCommandApproval requests the approval of a command.
const MethodCommandApproval = "item/commandExecution/requestApproval"

// MethodFileChangeApproval requests the approval of changes of files.
const MethodFileChangeApproval = "item/fileChange/requestApproval"

// MethodToolCall asks the client to run one of its tools.
const MethodToolCall = "item/tool/call"

// MethodUserInput asks the user questions.
const MethodUserInput = "item/tool/requestUserInput"

// ServerRequests lists the requests that the server sends to the client.
func ServerRequests() []ServerRequest {
	return []ServerRequest{{
		MethodCommandApproval,
		reflect.TypeFor[CommandExecutionRequestApprovalParams](),
		reflect.TypeFor[CommandExecutionRequestApprovalResponse](),
		"Asks whether a command may run.",
	}, {
		MethodFileChangeApproval,
		reflect.TypeFor[FileChangeRequestApprovalParams](),
		reflect.TypeFor[FileChangeRequestApprovalResponse](),
		"Asks whether files may be changed.",
	}, {
		MethodElicitation,
		reflect.TypeFor[McpServerElicitationRequestParams](),
		reflect.TypeFor[McpServerElicitationRequestResponse](),
		"Asks a question of an MCP server, or whether one of its tools may be called.",
	}, {
		MethodToolCall,
		reflect.TypeFor[DynamicToolCallParams](),
		reflect.TypeFor[DynamicToolCallResponse](),
		"Asks the client to run one of its tools.",
	}, {
		MethodClientTokens,
		reflect.TypeFor[ChatgptAuthTokensRefreshParams](),
		reflect.TypeFor[ChatgptAuthTokensRefreshResponse](),
		"Asks the client that has given tokens of an account for other ones.",
	}, {
		MethodUserInput,
		reflect.TypeFor[ToolRequestUserInputParams](),
		reflect.TypeFor[ToolRequestUserInputResponse](),
		"Asks the user questions.",
	}}
}

// Unions lists the tagged unions that appear in messages.
func Unions() []Union {
	return []Union{
		sandboxPolicies.describe(SandboxPolicy{}),
		threadStatuses.describe(ThreadStatus{}),
		userInputs.describe(UserInput{}),
		threadItems.describe(ThreadItem{}),
		dynamicToolContents.describe(DynamicToolContent{}),
		reviewTargets.describe(ReviewTarget{}),
		contextOperations.describe(ContextOperation{}),
		timelineEntries.describe(ThreadTimelineEntry{}),
	}
}
