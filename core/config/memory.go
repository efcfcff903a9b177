package config

import (
	"time"

	"appserver/core"
)

// Memory says what is remembered of what leaves contexts, and when models are reminded of it.
// Nothing is unless it is turned on.
type Memory struct {
	// SummarizeOnPrune is set where what leaves a context is summarised.
	SummarizeOnPrune bool `key:"summarize_on_prune"`
	// Summarizer is what makes the summaries: one of the Summarizer constants.
	Summarizer string `key:"summarizer" oneof:"local model"`
	// Inject is set where each turn begins with what is remembered about the user's words, at
	// most MaxItems memories in MaxChars characters.
	Inject   bool `key:"inject"`
	MaxItems int  `key:"max_items" min:"1" max:"50"`
	MaxChars int  `key:"max_chars" min:"200" max:"20000"`
	// RecallTool is set where models can search what is remembered.
	RecallTool bool `key:"recall_tool"`
	// IndexCode is set where the files of repositories are known to searches; IndexShare is
	// the share of a processor that reading them takes, in percent.
	IndexCode  bool       `key:"index_code"`
	IndexShare int        `key:"index_cpu_percent" min:"1" max:"100"`
	Embeddings Embeddings `key:"embeddings"`
}

// The words of Memory.Summarizer.
const (
	SummarizerLocal = "local"
	SummarizerModel = "model"
)

// Embeddings is the endpoint that compares meanings, none without a base URL and a model.
type Embeddings struct {
	BaseURL string `key:"base_url"`
	Model   string `key:"model"`
	// EnvKey names the variable with the key, "" where none is needed.
	EnvKey string `key:"env_key"`
	// Dimensions asks for vectors of so many numbers; 0 is the model's own.
	Dimensions int `key:"dimensions" min:"0" max:"8192"`
	// QueryTimeout is how long a search waits for the vector of its question.
	QueryTimeout time.Duration `key:"query_timeout_ms" min:"1" max:"60000"`
}

func defaultMemory() Memory {
	return Memory{
		Summarizer: SummarizerLocal, MaxItems: 3, MaxChars: 500, IndexShare: 25,
		Embeddings: Embeddings{QueryTimeout: 800 * time.Millisecond},
	}
}

// Rules are what a thread goes by.
func (m *Memory) Rules() core.MemoryRules {
	rules := core.MemoryRules{Summarize: m.SummarizeOnPrune, ByModel: m.Summarizer == SummarizerModel, Tool: m.RecallTool}
	if m.Inject {
		rules.Items, rules.Chars = m.MaxItems, m.MaxChars
	}
	return rules
}
