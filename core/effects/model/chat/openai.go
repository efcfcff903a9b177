package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/refusal"

	openai "github.com/sashabaranov/go-openai"
)

// go-openai has the types of a request's options and tools, the address and the headers of the API, and the encoding.
// It does not have the messages, because it drops empty contents and members of other providers. It does not have names
// of models, because it rejects some. It does not have the answer, because its reader runs two regular expressions a
// line, and takes an error of the provider for the end. Only this file uses it.

// neutralModel is the name that go-openai receives, because it rejects requests by the names of
// models, even for another provider.
const neutralModel = "model"

// post sends a request by a client that completes its body. The client keeps the answer.
func post(ctx context.Context, key, url string, client openai.HTTPDoer, body openai.ChatCompletionRequest) error {
	config := openai.DefaultConfig(key)
	config.BaseURL, config.HTTPClient = url, client
	_, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, body)
	return err
}

// body returns the part of a prompt's request that go-openai can express. none is set if the
// endpoint takes the effort none.
func body(p *core.Prompt, d *refusal.Demands, none bool) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model:         neutralModel,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		ServiceTier:   openai.ServiceTier(p.ServiceTier),
	}
	if len(p.Tools) > 0 {
		r.ParallelToolCalls = true
	}
	if effort, demanded := d.Effort(p.Effort); demanded {
		r.ReasoningEffort = effort
	} else if none || p.Effort != openai.ReasoningEffortNone {
		r.ReasoningEffort = p.Effort
	}
	if isSet(p.OutputSchema) {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "codex_output_schema", Schema: p.OutputSchema, Strict: true,
			},
		}
	}
	return r
}

func functionTool(t core.ToolSpec) openai.Tool {
	f := &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	if !isSet(t.Parameters) {
		f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: f}
}

// poster is the HTTP client of go-openai: it corrects a request on its way out.
type poster struct {
	to        model.Poster
	overrides map[string]json.RawMessage
	demands   *refusal.Demands
	extend    func(members map[string]json.RawMessage)
}

// Do adds the members that the library cannot express to the body.
func (r *poster) Do(req *http.Request) (*http.Response, error) {
	var members map[string]json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&members); err != nil {
		return nil, fmt.Errorf("reading the request that go-openai wrote: %w", err)
	}
	for name, value := range r.overrides {
		members[name] = value
	}
	if r.to.ReportsProgress() {
		members[memberProgress] = json.RawMessage("true")
	}
	r.extend(members)
	r.demands.Filter(members, optional)
	body := model.EncodeObject(members)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return r.to.Do(req)
}
