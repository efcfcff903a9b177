package model

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"appserver/platform/excerpt"
)

const (
	// maxEmbedded is the maximum number of texts of a request, firstEmbedded that of the first one.
	maxEmbedded, firstEmbedded = 64, 8
	// embedPace is the time that a request should take. A question waits for it, and a failure loses it.
	embedPace = time.Second
	// minEmbedded is the least length to which a text is shortened, in bytes.
	minEmbedded = 64
)

// batchSize is the number of texts of the next request. It follows the time that requests take. It is safe for
// concurrent use.
type batchSize struct {
	mu   sync.Mutex
	size int
}

func (b *batchSize) get() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.size, 1)
}

// answered adapts the size to a request with n texts: it at most doubles, and grows after a full batch only.
func (b *batchSize) answered(n int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size := maxEmbedded
	if fit := embedPace * time.Duration(n) / max(took, 1); fit < maxEmbedded {
		size = int(fit)
	}
	if n >= b.size || size < b.size {
		b.size = max(min(size, 2*b.size), 1)
	}
}

// failed halves the size, after a request with n texts that was too large or took too long.
func (b *batchSize) failed(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size = max(min(b.size, n/2), 1)
}

// Batch returns the number of texts that the endpoint embeds in about a second.
func (e *Embeddings) Batch() int { return e.size.get() }

// Embed returns a vector for each text, in their order. Requests that may succeed later are repeated for as long as ctx
// lasts. Texts that are too large for a request are sent in several ones, and a single text is shortened. Errors are
// *EmbedError, or ctx's cause.
func (e *Embeddings) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for len(texts) > 0 {
		n := min(e.size.get(), len(texts))
		some, err := e.fitting(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		vectors, texts = append(vectors, some...), texts[n:]
	}
	return vectors, nil
}

// fitting embeds a batch. If it is too large, it embeds its halves, or a shorter text.
func (e *Embeddings) fitting(ctx context.Context, texts []string) ([][]float32, error) {
	begun := time.Now()
	vectors, err := e.batch(ctx, texts)
	if err == nil {
		e.size.answered(len(texts), time.Since(begun))
		return vectors, nil
	}
	tooLarge := new(EmbedError)
	if !errors.As(err, &tooLarge) || !tooLarge.tooLarge {
		if ctx.Err() != nil {
			e.size.failed(len(texts))
		}
		return nil, err
	}
	if n := len(texts); n > 1 {
		e.size.failed(n)
		first, err := e.fitting(ctx, texts[:n/2])
		if err != nil {
			return nil, err
		}
		rest, err := e.fitting(ctx, texts[n/2:])
		return slices.Concat(first, rest), err
	}
	shorter := excerpt.Prefix(texts[0], len(texts[0])/2)
	if len(shorter) < minEmbedded {
		return nil, err
	}
	return e.fitting(ctx, []string{shorter})
}

// tooLargeWords are the words of endpoints for texts that are too large together or alone, in lower case: "too large
// to process" of llama-server, "exceeds the context length" of Ollama, "must have less than 512 tokens" and "batch size
// 64 > maximum allowed batch size 32" of text-embeddings-inference.
var tooLargeWords = []string{
	"too large", "too long", "too many", "exceeds the", "exceed the", "maximum allowed batch size", "physical batch size",
	"must have less than", "maximum request size", "token limit", "maximum length",
}

// tooLarge reports whether an endpoint rejected the size of the texts. Local servers use status 500 for it.
func tooLarge(err error) bool {
	answer := new(statusError)
	if !errors.As(err, &answer) {
		return false
	}
	p := parseProblem(answer.body)
	switch answer.status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return p.tooLong(answer.status) || p.says(tooLargeWords)
	}
	return false
}
