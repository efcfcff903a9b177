// Command gen writes models.tsv and models.tsv.gz from the catalogue of https://models.dev: its api.json, from the
// network or from a file. It needs no other files, so that anyone can renew the table.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"appserver/platform/httpclient"
	"appserver/protocol"
)

// maxCatalogue bounds the catalogue, in bytes.
const maxCatalogue = 64 << 20

// source is a provider of the catalogue, with the addresses where it serves, and the prefixes of names that mean it as
// the maker of a model. models restricts the rows to names with one of these beginnings.
type source struct{ id, addresses, prefixes, models string }

// sources returns the providers whose rows the table has: makers of models, and services that many users have.
// OpenRouter is left out, because it reports all of this itself. Plans with a monthly price are left out, because
// their tokens have none.
func sources() []source {
	return []source{
		{"openai", "api.openai.com", "openai", ""},
		{"anthropic", "api.anthropic.com", "anthropic", ""},
		{"google", "generativelanguage.googleapis.com", "google", ""},
		{"xai", "api.x.ai", "x-ai xai", ""},
		{"deepseek", "api.deepseek.com", "deepseek deepseek-ai", ""},
		{"mistral", "api.mistral.ai", "mistralai mistral", ""},
		{"moonshotai", "api.moonshot.ai", "moonshotai", ""},
		{"zai", "api.z.ai/api/paas", "z-ai zai-org zai", ""},
		{"minimax", "api.minimax.io", "minimax minimaxai", ""},
		{"cohere", "api.cohere.com api.cohere.ai", "cohere coherelabs", ""},
		{"xiaomi", "api.xiaomimimo.com", "xiaomi xiaomimimo", ""},
		{"stepfun", "api.stepfun.com", "stepfun stepfun-ai", ""},
		{"inception", "api.inceptionlabs.ai", "inception", ""},
		{"alibaba", "dashscope-intl.aliyuncs.com", "qwen alibaba", "qwen qwq qvq"},
		{"alibaba-cn", "dashscope.aliyuncs.com", "", "qwen qwq qvq"},
		{"moonshotai-cn", "api.moonshot.cn", "", ""},
		{"zhipuai", "open.bigmodel.cn/api/paas", "", ""},
		{"azure", ".openai.azure.com .services.ai.azure.com", "", ""},
		{"groq", "api.groq.com", "", ""},
		{"cerebras", "api.cerebras.ai", "", ""},
		{"togetherai", "api.together.xyz api.together.ai", "", ""},
		{"fireworks-ai", "api.fireworks.ai", "", ""},
		{"deepinfra", "api.deepinfra.com", "", ""},
		{"nebius", "api.tokenfactory.nebius.com api.studio.nebius.com", "", ""},
		{"novita-ai", "api.novita.ai", "", ""},
		{"siliconflow", "api.siliconflow.com", "", ""},
		{"baseten", "inference.baseten.co", "", ""},
		{"huggingface", "router.huggingface.co", "", ""},
		{"nvidia", "integrate.api.nvidia.com", "", ""},
		{"vercel", "ai-gateway.vercel.sh", "", ""},
		{"ollama-cloud", "ollama.com", "", ""},
	}
}

// corrections returns the windows that the catalogue has wrong, by provider and name, with what the maker documents.
func corrections() map[string]float64 {
	return map[string]float64{
		"openai/gpt-5-chat-latest": 128_000, // https://platform.openai.com/docs/models/gpt-5-chat-latest
	}
}

// entry is a model of the catalogue.
type entry struct {
	Reasoning  bool `json:"reasoning"`
	ToolCall   bool `json:"tool_call"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
	Limit struct {
		Context float64 `json:"context"`
		Input   float64 `json:"input"`
	} `json:"limit"`
	Cost *struct {
		Input     *float64 `json:"input"`
		Output    *float64 `json:"output"`
		CacheRead *float64 `json:"cache_read"`
	} `json:"cost"`
}

func main() {
	from := flag.String("source", "https://models.dev/api.json", "the catalogue, a `FILE` or an address")
	date := flag.String("date", time.Now().UTC().Format(time.DateOnly), "the `DATE` of the catalogue")
	dir := flag.String("dir", filepath.Join("core", "effects", "modeltable"), "the `FOLDER` of models.tsv")
	flag.Parse()
	if err := run(*from, *date, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, date, dir string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	content, err := read(from)
	if err != nil {
		return fmt.Errorf("the catalogue cannot be read; save https://models.dev/api.json and name the file: %w", err)
	}
	text, err := table(content, date)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(z, text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "models.tsv"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "models.tsv.gz"), packed.Bytes(), 0o644)
}

// read returns the catalogue of a file or an address.
func read(from string) ([]byte, error) {
	if !strings.HasPrefix(from, "https://") {
		return os.ReadFile(from)
	}
	client := http.Client{Transport: httpclient.New(os.Getenv).Transport(), Timeout: time.Minute}
	res, err := client.Get(from)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxCatalogue))
}

// table returns models.tsv.
func table(catalogue []byte, date string) (string, error) {
	var providers map[string]struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	if err := protocol.Unmarshal(catalogue, &providers); err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Windows, abilities and prices of models. Generated by make models; do not edit.\n"+
		"# Source: models.dev, https://models.dev/api.json, as of %s.\n"+
		"# Copyright (c) 2025 models.dev, MIT licence: LICENSE.models.dev beside this file.\n"+
		"# @provider, addresses, prefixes of the maker; then rows: name, tokens of the longest prompt, abilities (t tools,\n"+
		"# i images, r reasoning), US dollars for a million tokens of input, cached input and output.\n", date)
	for _, s := range sources() {
		p, ok := providers[s.id]
		if !ok {
			return "", fmt.Errorf("the catalogue has no provider %s: remove it from sources", s.id)
		}
		fmt.Fprintf(&out, "@%s\t%s\t%s\n", s.id, s.addresses, s.prefixes)
		names := make([]string, 0, len(p.Models))
		for name := range p.Models {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			var e entry
			if err := protocol.Unmarshal(p.Models[name], &e); err != nil {
				return "", fmt.Errorf("%s of %s: %w", name, s.id, err)
			}
			if window, wrong := corrections()[s.id+"/"+name]; wrong {
				e.Limit.Input = window
			}
			if s.has(name) && slices.Contains(e.Modalities.Output, "text") {
				out.WriteString(e.row(name))
			}
		}
	}
	return out.String(), nil
}

// has reports whether the table has a row for a name, which a row can hold.
func (s source) has(name string) bool {
	beginnings := strings.Fields(s.models)
	return !strings.ContainsAny(name, "\t\n") && !strings.ContainsAny(name[:1], "#@") && (len(beginnings) == 0 ||
		slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(name, b) }))
}

// row returns the line of a model.
func (e *entry) row(name string) string {
	window, abilities := e.Limit.Context, ""
	if e.Limit.Input > 0 {
		window = e.Limit.Input
	}
	for _, ability := range []struct {
		has  bool
		mark string
	}{{e.ToolCall, "t"}, {slices.Contains(e.Modalities.Input, "image"), "i"}, {e.Reasoning, "r"}} {
		if ability.has {
			abilities += ability.mark
		}
	}
	cells := []string{name, "", abilities, "", "", ""}
	if window >= 1 {
		cells[1] = strconv.FormatInt(int64(window), 10)
	}
	if e.isPriced() {
		cells[3], cells[4], cells[5] = dollars(e.Cost.Input), dollars(e.Cost.CacheRead), dollars(e.Cost.Output)
	}
	return strings.Join(cells, "\t") + "\n"
}

// isPriced reports whether the catalogue has prices. Without any, some services have zeros.
func (e *entry) isPriced() bool {
	isZero := func(price *float64) bool { return price == nil || *price == 0 }
	return e.Cost != nil && !(isZero(e.Cost.Input) && isZero(e.Cost.Output))
}

func dollars(price *float64) string {
	if price == nil {
		return ""
	}
	return strconv.FormatFloat(*price, 'f', -1, 64)
}
