package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

const (
	// listLimit bounds the answer of /models, in bytes: a marketplace of some hundred
	// models takes half a megabyte.
	listLimit = 8 << 20
	// maxListed bounds the models of one provider.
	maxListed = 2000
	// maxID bounds the name of a model, in bytes.
	maxID = 256
	// maxAliases bounds the further names of a model.
	maxAliases = 16
	// problemLimit bounds what is read of an answer with another status, in bytes.
	problemLimit = 64 << 10
	// maxPrice bounds a price for a million tokens, in US dollars.
	maxPrice = 1_000_000
)

// Lister lists models.
type Lister interface {
	Models(ctx context.Context) ([]core.ListedModel, error)
}

// Models requests the list of models, the newest first if it has their ages. It fails for an endpoint
// without a list. The error has no secret.
func (c *Client) Models(ctx context.Context) ([]core.ListedModel, error) {
	models, err := c.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("the models of provider %q: %w", c.endpoint.Name, errors.New(c.redacted(err.Error())))
	}
	return models, nil
}

func (c *Client) list(ctx context.Context) ([]core.ListedModel, error) {
	list, err := c.readList(ctx, askOptions{})
	if err != nil {
		return nil, err
	}
	c.describe(ctx, list.models)
	return list.models, nil
}

// readList requests the list of models without further facts.
func (c *Client) readList(ctx context.Context, o askOptions) (modelsList, error) {
	body, err := c.askModels(ctx, o)
	if err != nil {
		return modelsList{}, err
	}
	list, err := parseModels(body)
	if err == nil {
		c.recognise(list.made)
	}
	return list, err
}

// describe adds what the program of the endpoint knows about its models.
func (c *Client) describe(ctx context.Context, models []core.ListedModel) {
	if c.software() == unknownSoftware && len(models) > 0 && c.IsLocal() && c.isOllama(ctx) {
		c.recognise(ollama)
	}
	for i := range models {
		models[i].NoProviderTools = c.software() != unknownSoftware
	}
	switch c.software() {
	case ollama:
		c.describeOllama(ctx, models)
	case llamaCpp:
		c.describeLlamaCpp(ctx, models)
	case lmStudio:
		c.describeLMStudio(ctx, models)
	}
}

// askModels requests the list. If the endpoint rejects the login, it uses other credentials.
func (c *Client) askModels(ctx context.Context, o askOptions) ([]byte, error) {
	t, err := c.target(ctx, nil, "models")
	for tries := 1; err == nil; tries++ {
		if t.ofLogin() {
			query := t.url.Query()
			query.Set("client_version", protocol.Level)
			t.url.RawQuery = query.Encode()
		}
		body, failed := c.askAt(ctx, t.endpoint, http.MethodGet, t.url, nil, o)
		if tries == maxGrants || !isUnauthorized(failed) {
			return body, failed
		}
		var next *target
		if next, err = c.next(ctx, t, "models"); err == nil && next == nil {
			return body, failed
		}
		t = next
	}
	return nil, err
}

// noListError is an answer that is no list of models.
type noListError struct{}

// Error returns the reason.
func (noListError) Error() string { return "the answer is no list of models" }

// askOptions change a request beside those for answers.
type askOptions struct {
	// explains is set if the body of a failure is read. Then its connection is kept for later requests.
	explains bool
}

// ask sends a request beside those for answers, and returns the body of the response.
func (c *Client) ask(ctx context.Context, method string, u *url.URL, content []byte) ([]byte, error) {
	e := c.endpoint
	if t, err := c.target(ctx, nil); err == nil && t.grant != nil && t.grant.IsKey {
		e = t.endpoint
	}
	return c.askAt(ctx, e, method, u, content, askOptions{})
}

func (c *Client) askAt(ctx context.Context, e Endpoint, method string, u *url.URL, content []byte, o askOptions) (
	[]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(content))
	if err != nil {
		return nil, &requestError{err}
	}
	e.Identity.sign(req.Header)
	req.Header.Set("Accept", "application/json")
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, &connectError{err}
	}
	defer res.Body.Close()
	c.recogniseHeader(res.Header)
	if res.StatusCode != http.StatusOK {
		refused := &askError{status: res.StatusCode, header: res.Header, url: shownURL(req.URL)}
		if o.explains {
			refused.body, _ = io.ReadAll(io.LimitReader(res.Body, problemLimit)) // the status says enough without it
		}
		return nil, refused
	}
	return io.ReadAll(io.LimitReader(res.Body, listLimit))
}

// askError is a status other than 200 of a request beside those for answers.
type askError struct {
	status int
	header http.Header
	body   []byte // its beginning
	url    string
}

// Error returns the status and the address.
func (e *askError) Error() string {
	return fmt.Sprintf("unexpected status %d from %s", e.status, e.url)
}

// Unwrap returns the status as that of a request for an answer.
func (e *askError) Unwrap() error { return &statusError{e.status, e.header, e.body} }

// listed is a model in the forms of providers of Chat Completions. All have the id. The other facts
// have a name of its own with each provider.
type listed struct {
	ID          string          `json:"id"`
	Slug        string          `json:"slug"` // the vendor's list for ChatGPT accounts
	Name        loose[string]   `json:"name"`
	DisplayName loose[string]   `json:"display_name"`
	Description loose[string]   `json:"description"`
	Created     loose[int64]    `json:"created"`
	Type        loose[string]   `json:"type"`
	Object      loose[string]   `json:"object"`
	OwnedBy     loose[string]   `json:"owned_by"`
	Aliases     loose[[]string] `json:"aliases"` // llama.cpp
	Meta        loose[metadata] `json:"meta"`

	MaxModelLen         loose[float64] `json:"max_model_len"`         // vLLM, SGLang
	ContextLength       loose[float64] `json:"context_length"`        // OpenRouter, Together
	ContextWindow       loose[float64] `json:"context_window"`        // Groq
	MaxContextLength    loose[float64] `json:"max_context_length"`    // Mistral, LM Studio
	LoadedContextLength loose[float64] `json:"loaded_context_length"` // LM Studio
	MaxInputTokens      loose[float64] `json:"max_input_tokens"`      // Anthropic

	TopProvider  loose[topProvider]    `json:"top_provider"` // OpenRouter
	Architecture loose[architecture]   `json:"architecture"`
	Pricing      loose[map[string]any] `json:"pricing"`
	Supported    loose[[]string]       `json:"supported_parameters"`
}

// metadata is a part of the form of llama.cpp. NCtx is the window with which it runs, NCtxTrain that of the training.
type metadata struct {
	NCtx      float64 `json:"n_ctx"`
	NCtxTrain float64 `json:"n_ctx_train"`
}

// topProvider and architecture are parts of the form of OpenRouter.
type topProvider struct {
	ContextLength float64 `json:"context_length"`
}

type architecture struct {
	InputModalities  []string `json:"input_modalities"`
	OutputModalities []string `json:"output_modalities"`
}

// loose is a member that is ignored if it has another type.
type loose[T any] struct{ value T }

// UnmarshalJSON never fails.
func (l *loose[T]) UnmarshalJSON(b []byte) error {
	var value T
	if protocol.Unmarshal(b, &value) == nil {
		l.value = value
	}
	return nil
}

// modelsList is an answer with a list of models, and the software that made it.
type modelsList struct {
	models []core.ListedModel
	made   software
	// exact is set if the answer has the form of OpenAI, and each row is a model.
	exact bool
}

// parseModels reads a list of models: {"data": [...]}, {"models": [...]} or the list alone. Of several models with one
// id the first counts.
func parseModels(body []byte) (list modelsList, err error) {
	var answer struct {
		Object loose[string]     `json:"object"`
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	var rows []json.RawMessage
	if protocol.Unmarshal(body, &rows) != nil {
		if err := protocol.Unmarshal(body, &answer); err != nil {
			return list, noListError{}
		}
		if rows = answer.Data; rows == nil {
			rows = answer.Models
		}
	}
	list.exact = answer.Object.value == "list" && answer.Data != nil
	seen := map[string]bool{}
	for _, row := range rows {
		var m listed
		if protocol.Unmarshal(row, &m) != nil {
			list.exact = false
			continue
		}
		if m.ID = cmp.Or(m.ID, m.Slug); m.ID == "" || len(m.ID) > maxID || seen[m.ID] {
			list.exact = list.exact && seen[m.ID]
			continue
		}
		seen[m.ID] = true
		list.exact = list.exact && m.Object.value == "model"
		list.made = cmp.Or(list.made, m.software())
		list.models = append(list.models, m.model())
		if len(list.models) == maxListed {
			break
		}
	}
	slices.SortStableFunc(list.models, func(a, b core.ListedModel) int { return cmp.Compare(b.Created, a.Created) })
	return list, nil
}

func (m *listed) model() core.ListedModel {
	name := m.DisplayName.value
	if name == "" {
		name = m.Name.value
	}
	return core.ListedModel{
		ID: m.ID, Name: name, Description: m.Description.value, Created: m.Created.value,
		Window: m.window(), Modalities: m.modalities(), Wordless: m.wordless(), Aliases: m.aliases(),
		Tools: slices.Contains(m.Supported.value, "tools"), Thinking: slices.Contains(m.Supported.value, "reasoning"),
		Prices: m.prices(),
	}
}

// prices returns the prices of OpenRouter's form, which are for one token. It returns nil if no price is valid.
func (m *listed) prices() *core.ModelPrices {
	price := func(name string) *float64 {
		text, _ := m.Pricing.value[name].(string)
		n, err := strconv.ParseFloat(text, 64)
		if n *= 1e6; err != nil || !(n >= 0 && n <= maxPrice) {
			return nil
		}
		return new(math.Round(n*1e6) / 1e6)
	}
	p := core.ModelPrices{Input: price("prompt"), CachedInput: price("input_cache_read"), Output: price("completion")}
	if p == (core.ModelPrices{}) {
		return nil
	}
	return &p
}

// aliases returns further names of the model.
func (m *listed) aliases() (names []string) {
	for _, name := range m.Aliases.value[:min(len(m.Aliases.value), maxAliases)] {
		if name != "" && name != m.ID && len(name) <= maxID {
			names = append(names, name)
		}
	}
	return names
}

// window returns the smallest reported window: a provider can serve less than the model supports.
func (m *listed) window() int64 {
	window := 0.0
	for _, reported := range []float64{
		m.Meta.value.NCtx, m.MaxModelLen.value, m.ContextLength.value, m.ContextWindow.value, m.MaxContextLength.value,
		m.LoadedContextLength.value, m.MaxInputTokens.value, m.TopProvider.value.ContextLength,
	} {
		if reported >= 1 && reported < 1<<53 && (window == 0 || reported < window) {
			window = reported
		}
	}
	return int64(window)
}

func (m *listed) modalities() []string {
	var known []string
	for _, modality := range []string{"text", "image", "audio"} {
		if slices.Contains(m.Architecture.value.InputModalities, modality) {
			known = append(known, modality)
		}
	}
	return known
}

// wordlessNames are prefixes of models that do not converse, for providers that list them without a
// mark.
const wordlessNames = "text-embedding- embedding- tts- whisper- dall-e- gpt-image- omni-moderation- text-moderation- sora- babbage- davinci- computer-use-"

func (m *listed) wordless() bool {
	if out := m.Architecture.value.OutputModalities; out != nil && !slices.Contains(out, "text") {
		return true
	}
	switch m.Type.value {
	case "embedding", "embeddings", "image", "moderation", "rerank", "audio", "transcribe", "video":
		return true
	}
	name := strings.ToLower(m.ID[strings.LastIndexByte(m.ID, '/')+1:])
	for _, beginning := range strings.Fields(wordlessNames) {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	return false
}
