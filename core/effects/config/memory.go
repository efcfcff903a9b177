package config

import (
	"time"

	"appserver/core"
)

// Memory configures which content that leaves contexts is stored, and when models get it again. It
// is off by default.
type Memory struct {
	// SummarizeOnPrune is set if content that leaves a context is summarised.
	SummarizeOnPrune bool `key:"summarize_on_prune"`
	// Summarizer is the source of summaries: one of the Summarizer constants.
	Summarizer string `key:"summarizer" oneof:"local model"`
	// Inject is set if each turn begins with memories that match the user's words, at most MaxItems
	// memories in MaxChars characters.
	Inject   bool `key:"inject"`
	MaxItems int  `key:"max_items" min:"1" max:"50"`
	MaxChars int  `key:"max_chars" min:"200" max:"20000"`
	// RecallTool is set if models can search the memories.
	RecallTool bool `key:"recall_tool"`
	// IndexCode is set if searches include the files of repositories. IndexShare bounds the processor
	// time to index them, in percent of one processor.
	IndexCode  bool       `key:"index_code"`
	IndexShare int        `key:"index_cpu_percent" min:"1" max:"100"`
	Embeddings Embeddings `key:"embeddings"`
}

// The values of Memory.Summarizer.
const (
	SummarizerLocal = "local"
	SummarizerModel = "model"
)

// Embeddings is the endpoint for vectors of texts. It is off without a base URL and a model.
type Embeddings struct {
	BaseURL string `key:"base_url"`
	Model   string `key:"model"`
	// EnvKey is the variable with the key, or empty if none is needed.
	EnvKey string `key:"env_key"`
	// Dimensions is the length of vectors; 0 is the model's default.
	Dimensions int `key:"dimensions" min:"0" max:"8192"`
	// QueryTimeout is the time that a search waits for the vector of its query.
	QueryTimeout time.Duration `key:"query_timeout_ms" min:"1" max:"60000"`
}

func defaultMemory() Memory {
	return Memory{
		Summarizer: SummarizerLocal, MaxItems: 3, MaxChars: 500, IndexShare: 25,
		Embeddings: Embeddings{QueryTimeout: 800 * time.Millisecond},
	}
}

// Rules returns the rules of memory for a thread.
func (m *Memory) Rules() core.MemoryRules {
	rules := core.MemoryRules{Summarize: m.SummarizeOnPrune, ByModel: m.Summarizer == SummarizerModel, Tool: m.RecallTool}
	if m.Inject {
		rules.Items, rules.Chars = m.MaxItems, m.MaxChars
	}
	return rules
}
