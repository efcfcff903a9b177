package protocol

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Members of params that have no effect in this server, because they can make nothing wider: docs/compat.md has the
// reasons. Their types are checked, and they are decoded for nothing else. So a client that sends a wrong value learns
// it here, as from the reference implementation.

type unservedInitialize struct {
	Capabilities *unservedCapabilities `json:"capabilities,omitempty"`
}

type unservedCapabilities struct {
	RequiredHumanApproval          *bool           `json:"requiredHumanApproval,omitempty"`
	ExplicitGatewayOauth           *bool           `json:"explicitGatewayOauth,omitempty"`
	RequestAttestation             *bool           `json:"requestAttestation,omitempty"`
	Extensions                     *map[string]any `json:"extensions,omitempty"`
	McpServerOpenaiFormElicitation *bool           `json:"mcpServerOpenaiFormElicitation,omitempty"`
}

type unservedThreadStart struct {
	unservedPersonality
	ServiceName                *string                   `json:"serviceName,omitempty"`
	SessionStartSource         *string                   `json:"sessionStartSource,omitempty" oneof:"startup clear"`
	SelectedCapabilityRoots    *[]selectedCapabilityRoot `json:"selectedCapabilityRoots,omitempty"`
	ProjectID                  *string                   `json:"projectId,omitempty"`
	DaybreakEnabled            *bool                     `json:"daybreakEnabled,omitempty"`
	AllowProviderModelFallback *bool                     `json:"allowProviderModelFallback,omitempty"`
	ExperimentalRawEvents      *bool                     `json:"experimentalRawEvents,omitempty"`
	HistoryMode                *string                   `json:"historyMode,omitempty" oneof:"legacy paginated"`
	MockExperimentalField      *string                   `json:"mockExperimentalField,omitempty"`
}

type unservedPersonality struct {
	Personality *string `json:"personality,omitempty" oneof:"none friendly pragmatic"`
}

type unservedThreadFork struct {
	DeferGoalContinuation            *bool `json:"deferGoalContinuation,omitempty"`
	ExperimentalDisablePredictionMcp *bool `json:"experimentalDisablePredictionMcp,omitempty"`
	ExperimentalPredictionMode       *bool `json:"experimentalPredictionMode,omitempty"`
	AttachToSource                   *bool `json:"attachToSource,omitempty"`
}

type unservedTurnStart struct {
	unservedPersonality
	unservedTurnSteer
	TurnTrigger        *string   `json:"turnTrigger,omitempty"`
	ParentTurnID       *string   `json:"parentTurnId,omitempty"`
	CyberAccessProgram *string   `json:"cyberAccessProgram,omitempty" oneof:"standard daybreakBlue daybreakRed"`
	DisabledPluginIDs  *[]string `json:"disabledPluginIds,omitempty"`
	ServiceTierForTurn *string   `json:"serviceTierForTurn,omitempty"`
	ToolOutput         *struct {
		Name      string     `json:"name"`
		Namespace *string    `json:"namespace,omitempty"`
		Output    textOrList `json:"output"`
		Retain    *bool      `json:"retain,omitempty"`
	} `json:"toolOutput,omitempty"`
}

type unservedTurnSteer struct {
	ResponsesAPIClientMetadata      *map[string]string        `json:"responsesapiClientMetadata,omitempty"`
	ResponsesAPIClientMetadataPatch *map[string]string        `json:"responsesapiClientMetadataPatch,omitempty"`
	AdditionalContext               *map[string]contextMember `json:"additionalContext,omitempty"`
}

type unservedMetadata struct {
	ProjectID       *string `json:"projectId,omitempty"`
	DaybreakEnabled *bool   `json:"daybreakEnabled,omitempty"`
}

type unservedSearch struct {
	IncludeAttachedThreads *bool `json:"includeAttachedThreads,omitempty"`
	CurrentAccountOnly     *bool `json:"currentAccountOnly,omitempty"`
}

type unservedList struct {
	CurrentAccountOnly *bool `json:"currentAccountOnly,omitempty"`
	UseStateDbOnly     *bool `json:"useStateDbOnly,omitempty"`

	IncludedThreadIDs *rejectedFilter `json:"includedThreadIds,omitempty"`
}

// unservedEnvironment is in params about MCP servers. They run on this machine only.
type unservedEnvironment struct {
	EnvironmentID *localOnly `json:"environmentId,omitempty"`
}

// localOnly rejects each environment but that of this machine.
type localOnly struct{}

// UnmarshalJSON accepts local.
func (*localOnly) UnmarshalJSON(b []byte) error {
	if in := gjson.ParseBytes(b); in.Str != "local" {
		return errors.New("MCP servers run in the environment local only")
	}
	return nil
}

// rejectedFilter is a filter that this server does not have.
type rejectedFilter struct{}

// UnmarshalJSON rejects each value, because the list would have more than the client asks for.
func (*rejectedFilter) UnmarshalJSON([]byte) error {
	return errors.New("this server does not have the filter; leave it out")
}

type unservedItemsList struct {
	DeferOutput *struct {
		CommandExecution *bool `json:"commandExecution,omitempty"`
		McpToolCall      *bool `json:"mcpToolCall,omitempty"`
	} `json:"deferOutput,omitempty"`
}

type unservedRateLimits struct {
	ExcludeResetCreditDetails *bool `json:"excludeResetCreditDetails,omitempty"`
	SupportsLunaReserve       *bool `json:"supportsLunaReserve,omitempty"`
}

type unservedMemoryStatus struct {
	MinConsolidatedThreads *uint32 `json:"minConsolidatedThreads,omitempty"`
}

type selectedCapabilityRoot struct {
	ID       string `json:"id"`
	Location struct {
		Type          string `json:"type" oneof:"environment"`
		EnvironmentID string `json:"environmentId"`
		Path          string `json:"path"`
	} `json:"location"`
}

// contextMember is an entry of additionalContext.
type contextMember struct {
	Kind  string  `json:"kind" oneof:"untrusted application"`
	Name  *string `json:"name,omitempty"`
	Value string  `json:"value"`
}

// UnmarshalJSON requires the members of an entry, which is in a map.
func (m *contextMember) UnmarshalJSON(b []byte) error {
	type plain contextMember
	return decodeObject(gjson.ParseBytes(b), reflect.ValueOf((*plain)(m)).Elem())
}

// textOrList is a string or a list.
type textOrList struct{}

// UnmarshalJSON checks the variants.
func (v *textOrList) UnmarshalJSON(b []byte) error {
	if in := gjson.ParseBytes(b); in.Type != gjson.String && !in.IsArray() {
		return wrongType(in, "a string or a list")
	}
	return nil
}

// unserved are the types with the members of params that have no effect.
var unserved = map[reflect.Type]reflect.Type{
	reflect.TypeFor[InitializeParams]():           reflect.TypeFor[unservedInitialize](),
	reflect.TypeFor[ThreadStartParams]():          reflect.TypeFor[unservedThreadStart](),
	reflect.TypeFor[ThreadResumeParams]():         reflect.TypeFor[unservedPersonality](),
	reflect.TypeFor[ThreadForkParams]():           reflect.TypeFor[unservedThreadFork](),
	reflect.TypeFor[TurnStartParams]():            reflect.TypeFor[unservedTurnStart](),
	reflect.TypeFor[TurnSteerParams]():            reflect.TypeFor[unservedTurnSteer](),
	reflect.TypeFor[ThreadMetadataUpdateParams](): reflect.TypeFor[unservedMetadata](),
	reflect.TypeFor[ThreadSearchParams]():         reflect.TypeFor[unservedSearch](),
	reflect.TypeFor[ThreadListParams]():           reflect.TypeFor[unservedList](),
	reflect.TypeFor[ThreadItemsListParams]():      reflect.TypeFor[unservedItemsList](),
	reflect.TypeFor[ListMcpServerStatusParams]():  reflect.TypeFor[unservedEnvironment](),
	reflect.TypeFor[McpServerToolCallParams]():    reflect.TypeFor[unservedEnvironment](),
	reflect.TypeFor[McpResourceReadParams]():      reflect.TypeFor[unservedEnvironment](),
	reflect.TypeFor[McpServerOauthLoginParams]():  reflect.TypeFor[unservedEnvironment](),
	reflect.TypeFor[GetAccountRateLimitsParams](): reflect.TypeFor[unservedRateLimits](),
	reflect.TypeFor[MemoryStatusParams]():         reflect.TypeFor[unservedMemoryStatus](),
}

// decodeServed decodes the params of a method, and checks the types of members that have no effect.
func decodeServed[P any](params json.RawMessage, p *P) error {
	if err := DecodeParams(params, p); err != nil {
		return err
	}
	return checkUnserved(params, reflect.TypeFor[P]())
}

// checkUnserved checks the types of members that have no effect. The params are valid.
func checkUnserved(params json.RawMessage, kind reflect.Type) error {
	t, ok := unserved[kind]
	if !ok || len(params) == 0 {
		return nil
	}
	return DecodeParams(params, reflect.New(t).Interface())
}

// UnservedMembers returns the members of params that have no effect, as TYPE.MEMBER, and those of which the server
// rejects values, both sorted.
func UnservedMembers() (ignored, rejected []string) {
	for params, t := range unserved {
		owner := params.Name()
		if t == reflect.TypeFor[unservedInitialize]() {
			owner, t = "InitializeCapabilities", reflect.TypeFor[unservedCapabilities]()
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "":
			case f.Type == reflect.TypeFor[*rejectedFilter](), f.Type == reflect.TypeFor[*localOnly]():
				rejected = append(rejected, owner+"."+name)
			default:
				ignored = append(ignored, owner+"."+name)
			}
		}
	}
	slices.Sort(ignored)
	slices.Sort(rejected)
	return ignored, rejected
}
