package memory_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/memory"
)

// formLanguages are the languages of the files in testdata/forms.
var formLanguages = []string{"en", "de", "fr", "es", "it"}

// formQuestion is a question of testdata/forms for the passage with a title.
type formQuestion struct {
	language, title, text string
	// synonyms is whether the question uses other words rather than other forms of words.
	synonyms bool
	// heldOut is whether the values of the search were chosen without the question.
	heldOut bool
}

// formCorpus returns the passages of all languages with their questions, and noise passages of each language.
func formCorpus(t testing.TB, noise int) (rows []memory.Row, questions []formQuestion) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, language := range formLanguages {
		file, err := os.Open("testdata/forms/" + language + ".txt")
		require.NoError(t, err)
		f := formFile{language: language}
		require.NoError(t, f.read(file))
		require.NoError(t, file.Close())
		for range noise {
			f.fill(random)
		}
		rows, questions = append(rows, f.rows...), append(questions, f.questions...)
	}
	for i := range rows {
		rows[i].RepoKey, rows[i].SessionID, rows[i].Kind = repo, fmt.Sprint("s", i%40), memory.Summary
		rows[i].TS = 1_700_000_000_000 + int64(i)*60_000
	}
	return rows, questions
}

// formFile is a file of testdata/forms. Its README has the format.
type formFile struct {
	language  string
	rows      []memory.Row
	questions []formQuestion
	templates []string
	blanks    []blank
}

func (f *formFile) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		mark, rest, _ := strings.Cut(lines.Text(), " ")
		switch mark {
		case "=":
			title, text, _ := strings.Cut(rest, " | ")
			f.rows = append(f.rows, memory.Row{Title: title, Text: text})
		case "f", "s":
			f.questions = append(f.questions, formQuestion{f.language, f.rows[len(f.rows)-1].Title, rest, mark == "s",
				len(f.rows)%2 == 1})
		case "~":
			f.templates = append(f.templates, rest)
		default:
			name, words, _ := strings.Cut(lines.Text(), ": ")
			f.blanks = append(f.blanks, blank{name, strings.Split(words, ", ")})
		}
	}
	return lines.Err()
}

// fill adds a passage that no question asks for.
func (f *formFile) fill(random *rand.Rand) {
	text := f.templates[random.IntN(len(f.templates))]
	for _, of := range f.blanks {
		text = strings.ReplaceAll(text, of.name, of.words[random.IntN(len(of.words))])
	}
	for strings.Contains(text, "#") {
		text = strings.Replace(text, "#", fmt.Sprint(random.IntN(900)+10), 1)
	}
	title, text, _ := strings.Cut(text, " | ")
	f.rows = append(f.rows, memory.Row{Title: title, Text: text})
}

// formScore counts the questions whose passage was the first, among the first three and among the first eight.
type formScore struct{ questions, first, third, eighth int }

func (s *formScore) count(rank int) {
	s.questions++
	for _, at := range []struct {
		limit int
		count *int
	}{{1, &s.first}, {3, &s.third}, {8, &s.eighth}} {
		if rank > 0 && rank <= at.limit {
			*at.count++
		}
	}
}

func (s formScore) recall() float64 { return float64(s.third) / float64(s.questions) }

// askForms returns the scores by group: a language and a kind of questions, all of a kind, and its held-out half.
func askForms(t testing.TB, s *memory.Store, questions []formQuestion) map[string]*formScore {
	t.Helper()
	scores := map[string]*formScore{}
	for _, q := range questions {
		hits, err := s.Search(context.Background(), memory.Query{RepoKey: repo, Text: q.text, Limit: 8})
		require.NoError(t, err)
		kind := "forms"
		if q.synonyms {
			kind = "synonyms"
		}
		groups := []string{q.language + " " + kind, "all " + kind}
		if q.heldOut {
			groups = append(groups, "held-out "+kind)
		}
		at := rank(hits, q.title)
		for _, g := range groups {
			if scores[g] == nil {
				scores[g] = &formScore{}
			}
			scores[g].count(at)
		}
		if at == 0 || at > 3 {
			missed(t, q, at)
		}
	}
	return scores
}

// missed prints a question whose passage was not among the first three, if MEMORY_TEST_MISSED is set.
func missed(t testing.TB, q formQuestion, rank int) {
	if os.Getenv("MEMORY_TEST_MISSED") != "" {
		t.Logf("%s heldOut=%v rank %d: %s -> %s", q.language, q.heldOut, rank, q.text, q.title)
	}
}

// formGroups returns the groups of askForms in the order of the files.
func formGroups() (groups []string) {
	for _, kind := range []string{"forms", "synonyms"} {
		for _, of := range append(slices.Clone(formLanguages), "all", "held-out") {
			groups = append(groups, of+" "+kind)
		}
	}
	return groups
}

// withForms returns a store with rows, each with a vector if there is an embedder.
func withForms(t testing.TB, rows []memory.Row, change func(o *memory.Options)) *memory.Store {
	t.Helper()
	o := memory.Options{Home: t.TempDir(), QueryTimeout: time.Minute}
	change(&o)
	s := memory.Open(o)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Append(context.Background(), rows))
	if o.Embedder != nil {
		await(t, s, int64(len(rows)))
	}
	return s
}

// TestOtherFormsOfWordsFindPassages has bounds a little below what BenchmarkForms shows, so that a change which
// harms retrieval fails.
func TestOtherFormsOfWordsFindPassages(t *testing.T) {
	rows, questions := formCorpus(t, 100)
	require.GreaterOrEqual(t, len(questions), 200)
	scores := askForms(t, withForms(t, rows, func(*memory.Options) {}), questions)
	for _, group := range formGroups() {
		t.Logf("%s: %+v", group, *scores[group])
	}
	for _, language := range formLanguages {
		require.GreaterOrEqual(t, scores[language+" forms"].recall(), 0.93, language)
	}
	require.GreaterOrEqual(t, scores["all forms"].recall(), 0.96)
	require.GreaterOrEqual(t, scores["held-out forms"].recall(), 0.95)
}

// BenchmarkForms measures the recall: of words alone, and then with one more part of the search in each run.
// EMBEDDINGS_URL is the base URL of an endpoint with OpenAI's /embeddings, and EMBEDDINGS_MODEL is its model. Without
// the URL, the run with vectors is left out.
func BenchmarkForms(b *testing.B) {
	rows, questions := formCorpus(b, 300)
	names := []string{"words", "roots", "trigrams"}
	changes := []func(*memory.Options){(*memory.Options).Exact, (*memory.Options).Roots, func(*memory.Options) {}}
	if url := os.Getenv("EMBEDDINGS_URL"); url != "" {
		by := endpoint{url, os.Getenv("EMBEDDINGS_MODEL")}
		names = append(names, "vectors")
		changes = append(changes, func(o *memory.Options) { o.Embedder = by })
	}
	for i, name := range names {
		s := withForms(b, rows, changes[i])
		begin := time.Now()
		scores := askForms(b, s, questions)
		took := time.Since(begin)
		for _, group := range formGroups() {
			b.Run(name+"/"+group, func(b *testing.B) {
				for b.Loop() {
				}
				score := scores[group]
				all := float64(score.questions)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(100*float64(score.first)/all, "recall@1-%")
				b.ReportMetric(100*float64(score.third)/all, "recall@3-%")
				b.ReportMetric(100*float64(score.eighth)/all, "recall@8-%")
				b.ReportMetric(float64(took.Microseconds())/1000/float64(len(questions)), "ms/query")
			})
		}
	}
}

// endpoint is an embedder with OpenAI's API.
type endpoint struct{ url, model string }

func (e endpoint) Model() string { return e.model }

func (e endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"input": texts, "model": e.model})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(answer.Data))
	for i, d := range answer.Data {
		vectors[i] = d.Embedding
	}
	return vectors, nil
}
