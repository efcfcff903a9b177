package model

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"appserver/core"
	"appserver/protocol"
)

const (
	// maxShown bounds the models of which Ollama is asked for details, showers the requests at a time.
	maxShown = 200
	showers  = 4
)

// runningModels is the answer of Ollama's /api/ps.
type runningModels struct {
	Models []struct {
		Name          string         `json:"name"`
		Model         string         `json:"model"`
		ContextLength loose[float64] `json:"context_length"`
	} `json:"models"`
}

// shownModel is the answer of Ollama's /api/show. Info has the window of the training as ARCHITECTURE.context_length.
// Parameters are lines of a name and a value. Modelfile has the model's file after FROM.
type shownModel struct {
	Modelfile    loose[string]         `json:"modelfile"`
	Capabilities loose[[]string]       `json:"capabilities"`
	Parameters   loose[string]         `json:"parameters"`
	Info         loose[map[string]any] `json:"model_info"`
}

// isOllama reports whether the endpoint answers as Ollama does. Its list does not show that if all models come from
// elsewhere than its own library.
func (c *Client) isOllama(ctx context.Context) bool {
	var is struct {
		Version string `json:"version"`
	}
	return c.read(ctx, http.MethodGet, "", &is, "api", "version") == nil && is.Version != ""
}

// describeOllama adds what Ollama knows about its models. A running model has the window with which it runs. Of
// another one the window is an upper bound until it runs.
func (c *Client) describeOllama(ctx context.Context, models []core.ListedModel) {
	limit, loads := make(chan struct{}, showers), make([]load, min(len(models), maxShown))
	var shown sync.WaitGroup
	for i := range loads {
		limit <- struct{}{}
		shown.Go(func() {
			loads[i] = c.showOllama(ctx, &models[i])
			<-limit
		})
	}
	shown.Wait()
	var running runningModels
	if c.read(ctx, http.MethodGet, "", &running, "api", "ps") != nil {
		return
	}
	for _, r := range running.Models[:min(len(running.Models), maxShown)] {
		i := slices.IndexFunc(models, func(m core.ListedModel) bool { return m.Named(r.Name) || m.Named(r.Model) })
		if window := tokenCount(r.ContextLength.value); i >= 0 && window > 0 {
			setRunning(models, loads, i, window)
		}
	}
}

// load is how Ollama loads a model: the file, and the configured window or 0. Models that it would load in the same
// way share one running model, and /api/ps has only the name of the one that was loaded first.
type load struct {
	file   string
	window int64
}

// setRunning records the window of a running model, for it and for all that share it.
func setRunning(models []core.ListedModel, loads []load, at int, window int64) {
	models[at].Window, models[at].Running = window, true
	if at >= len(loads) || loads[at].file == "" {
		return
	}
	for i := range loads {
		if loads[i] == loads[at] && !models[i].Running {
			models[i].Window, models[i].Running = window, true
		}
	}
}

// showOllama adds the abilities of a model, and the largest window that it can have.
func (c *Client) showOllama(ctx context.Context, m *core.ListedModel) load {
	var shown shownModel
	content, err := protocol.Marshal(map[string]string{"model": m.ID})
	if err != nil || c.read(ctx, http.MethodPost, string(content), &shown, "api", "show") != nil {
		return load{}
	}
	how := load{shown.file(), shown.configuredWindow()}
	m.Window, m.Loads = cmp.Or(shown.window(), m.Window), true
	able := shown.Capabilities.value
	if len(able) == 0 {
		return how // older versions name none
	}
	m.Modalities = []string{"text"}
	if slices.Contains(able, "vision") {
		m.Modalities = append(m.Modalities, "image")
	}
	m.Tools, m.Thinking = slices.Contains(able, "tools"), slices.Contains(able, "thinking")
	m.NoTools, m.NoThinking = !m.Tools, !m.Thinking
	m.Wordless = !slices.Contains(able, "completion")
	return how
}

// file returns the file of the model, or "".
func (s *shownModel) file() string {
	for line := range strings.Lines(s.Modelfile.value) {
		if file, ok := strings.CutPrefix(line, "FROM "); ok {
			return strings.TrimSpace(file)
		}
	}
	return ""
}

// configuredWindow returns num_ctx of the model's parameters, or 0.
func (s *shownModel) configuredWindow() int64 {
	for line := range strings.Lines(s.Parameters.value) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "num_ctx" {
			n, _ := strconv.ParseFloat(words[1], 64) // 0 counts as absent
			return tokenCount(n)
		}
	}
	return 0
}

// window returns the largest window that the model can have: the configured one, within that of the training.
func (s *shownModel) window() int64 {
	window := s.configuredWindow()
	for name, value := range s.Info.value {
		if n, ok := value.(float64); ok && strings.HasSuffix(name, ".context_length") {
			if count := tokenCount(n); count > 0 && (window == 0 || count < window) {
				window = count
			}
		}
	}
	return window
}

// read reads a document beside the version in the address of the endpoint.
func (c *Client) read(ctx context.Context, method, content string, to any, path ...string) error {
	u, err := c.besideURL(path...)
	if err != nil {
		return err
	}
	var sent []byte
	if content != "" {
		sent = []byte(content)
	}
	body, err := c.ask(ctx, method, u, sent)
	if err != nil {
		return err
	}
	return protocol.Unmarshal(body, to)
}

// tokenCount returns a reported window, or 0 if no model can have it.
func tokenCount(n float64) int64 {
	if n >= 1 && n <= maxTokens {
		return int64(n)
	}
	return 0
}
